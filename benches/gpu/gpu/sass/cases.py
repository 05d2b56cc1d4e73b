"""Pictures that the kernel composes here, as the memory that a launch of one takes, and what its twin makes of them."""

from __future__ import annotations

import ctypes
import random
import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

GRAY, YCC = 0, 1
UINT8, FLOAT16 = 0, 1
WIDTH, HEIGHT, SIDE = 500, 375, 224
# Left, top, width and height of the part that becomes a training picture of 224 x 224.
CROP = (97, 53, 300, 265)
BITS, TILE, THREADS = 22, 4, 128


class Case(NamedTuple):
    """A picture's form, and that of its result."""

    name: str
    across: int
    down: int
    element: int
    by_planes: int
    in_floats: int
    colours: int = YCC


CASES = (
    Case("4:2:0 to uint8", 2, 2, UINT8, 0, 0),
    Case("4:2:0 to float16, normalised, in planes", 2, 2, FLOAT16, 1, 0),
    Case("4:2:0 to uint8 as torch computes", 2, 2, UINT8, 0, 1),
    Case("4:2:2 to uint8", 2, 1, UINT8, 0, 0),
    Case("4:4:4 to uint8", 1, 1, UINT8, 0, 0),
    Case("gray to uint8", 1, 1, UINT8, 0, 0, GRAY),
)


class Launch:
    """A case in memory: `pieces` by their addresses, which are those of the host, so that the twin takes them too."""

    def __init__(self, case: Case, tile: int) -> None:
        self.case, self.tile = case, tile
        chroma = (-(-WIDTH // case.across), -(-HEIGHT // case.down))
        sides = [(WIDTH, HEIGHT), chroma, chroma]
        noise = random.Random(5)
        self._planes = [bytearray(noise.randbytes(width * height)) for width, height in sides]
        left, top, width, height = CROP
        self._columns = _taps(left, width, case.in_floats)
        self._rows = _taps(top, height, case.in_floats)
        size = SIDE * SIDE * 3 * (1 if case.element == UINT8 else 2)
        self.out = bytearray(size)
        planes = [_address(plane) for plane in self._planes]
        passes = []
        for taps, stride in (self._columns, self._rows):
            passes += [_address(taps), stride, 0, SIDE, SIDE]
        numbers = (1, case.colours, case.across, case.down, *chroma)
        self._picture = bytearray(
            struct.pack(
                "<3QQ" + "QIIII" * 2 + "4Q3I6I3i3i9I6f",
                *(*planes, _address(self.out), *passes, 0, 0, 0, 0, WIDTH, chroma[0], chroma[0], *numbers),
                *(0, 1, 0, 0, 0, 1, 0, case.in_floats, case.element, case.by_planes, 0, 0, 0, 0, 0),
                *(0.485, 0.456, 0.406, 0.229, 0.224, 0.225),
            )
        )
        self.pictures = _address(self._picture)

    @property
    def pieces(self) -> dict[int, bytearray]:
        """All memory, by the address of its first byte."""
        memory = (self._picture, self.out, self._columns[0], self._rows[0], *self._planes)
        return {_address(piece): piece for piece in memory}

    @property
    def blocks(self) -> int:
        """As many as the launch has."""
        return -(-self.threads // THREADS)

    @property
    def threads(self) -> int:
        """As many as have pixels to make."""
        return SIDE * (SIDE // self.tile)

    def made(self, thread: int) -> list[int]:
        """Where in the result the bytes of a thread's pixels are."""
        column, top = thread % SIDE, thread // SIDE * self.tile
        width = len(self.out) // (SIDE * SIDE * 3)
        places = []
        for row in range(top, top + self.tile):
            for channel in range(3):
                at = row * SIDE + column
                value = channel * SIDE * SIDE + at if self.case.by_planes else at * 3 + channel
                places += range(value * width, (value + 1) * width)
        return places


def _address(memory: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _taps(begin: int, length: int, in_floats: int) -> tuple[bytearray, int]:
    """A triangle's weights, wider than a pixel where the picture shrinks, and the numbers that each pixel takes."""
    scale = length / SIDE
    support = max(scale, 1.0)
    rows = []
    for at in range(SIDE):
        center = (at + 0.5) * scale
        first, past = max(0, int(center - support + 0.5)), min(length, int(center + support + 0.5))
        weights = [1 - min(1, abs((place + 0.5 - center) / support)) for place in range(first, past)]
        rows.append((begin + first, [weight / sum(weights) for weight in weights]))
    stride = 2 + max(len(weights) for _, weights in rows)
    table = bytearray()
    for first, weights in rows:
        row = struct.pack("<2i", first, len(weights))
        for weight in weights:
            row += struct.pack("<f", weight) if in_floats else struct.pack("<i", round(weight * (1 << BITS)))
        table += row.ljust(4 * stride, b"\0")
    return table, stride


def twin(kernels: Path, folder: Path) -> ctypes.CDLL:
    """The kernel for the CPU, compiled into a folder."""
    library = folder / "twin.so"
    options = ["-O2", "-std=c11", "-ffp-contract=off", "-shared", "-fPIC", "-DTWIN=twin"]
    subprocess.run(["cc", *options, kernels / "twin.c", "-o", library, "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.twin.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint]
    return loaded


def tile(kernels: Path) -> int:
    """Pixels that a thread makes."""
    return int(re.search(r"^#define TILE (\d+)", (kernels / "compose.cu").read_text(), re.M)[1])  # type: ignore[index]
