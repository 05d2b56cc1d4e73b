"""Makes a library for GPUs small: of its kernels, those for one generation stay.

A library has its kernels in containers, one form of a kernel after the other: binaries for generations, and PTX, which
the driver compiles for others. What is not needed becomes zeros in its place, so that nothing moves, and an archive
hardly grows by it. A container without a binary for the generation stays as it is.
"""

from __future__ import annotations

import contextlib
import mmap
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# A container's first bytes, and what its header has: version, bytes of the header, bytes behind it.
MAGIC = 0xBA55ED50
CONTAINER = struct.Struct("<IHHQ")
# A form's: kind, version, bytes of its header, bytes behind that, and the generation 28 bytes from its beginning.
FORM = struct.Struct("<HHIQIIHHI")
BINARY = 2


class Form(NamedTuple):
    """A kernel's form: what is in it begins at a place of the file."""

    kind: int
    generation: int
    begin: int
    size: int


def slim(folder: Path, generation: int) -> None:
    """Slims all libraries of a folder, and takes the names of their functions from them, where there is strip."""
    for library in sorted(folder.rglob("*.so*")):
        if library.is_symlink() or library.stat().st_size == 0:
            continue
        with library.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
            _keep(content, generation)
        if shutil.which("strip"):
            with contextlib.suppress(subprocess.CalledProcessError):
                subprocess.run(["strip", "--strip-unneeded", library], check=True, stderr=subprocess.DEVNULL)


def _keep(content: mmap.mmap, generation: int) -> None:
    begin = content.find(MAGIC.to_bytes(4, "little"))
    while begin >= 0:
        forms = list(_forms(content, begin))
        if any(form.kind == BINARY and form.generation == generation for form in forms):
            for form in forms:
                if (form.kind, form.generation) != (BINARY, generation):
                    content[form.begin : form.begin + form.size] = bytes(form.size)
        begin = content.find(MAGIC.to_bytes(4, "little"), begin + 4)


def _forms(content: mmap.mmap, begin: int) -> Iterator[Form]:
    """Those of a container; none of bytes that only look like one."""
    if begin + CONTAINER.size > len(content):
        return
    _, version, head, size = CONTAINER.unpack_from(content, begin)
    at, end = begin + head, begin + head + size
    if version != 1 or head < CONTAINER.size or end > len(content):
        return
    while at + FORM.size <= end:
        kind, _, head, size, _, _, _, _, generation = FORM.unpack_from(content, at)
        if head < FORM.size or at + head + size > end:
            return
        yield Form(kind, generation, at + head, size)
        at += head + size
