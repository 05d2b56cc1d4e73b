"""Prints the notices of what is linked into programs of this workspace: each crate and licence, then the texts.

Usage: notices.py [--target TRIPLE] PACKAGE...      (packages of cargo, such as forebay or forebay-c)

The texts are those in the crates' own sources, those of the C libraries that some of them compile among them.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from crates import known, linked

LICENCE = re.compile(r"(licen[cs]e|copying|copyright|notice|patents|unlicense)([-._].*)?|README\.ijg", re.IGNORECASE)
# The text that a library offers beside one that we take instead.
NOT_TAKEN = re.compile(r"\s*GNU GENERAL PUBLIC LICENSE")
PREAMBLE = """These libraries are linked into the programs of this package. Rust's standard library is linked too.
The Rust Project Developers license it under MIT or Apache-2.0.
"""
# libjpeg-turbo asks for this sentence.
OF_JPEG = "This software is based in part on the work of the Independent JPEG Group.\n"
# Below a crate's root: its own, and those of a C library that it has in a folder.
DEEPEST = 3
# Folders whose licences are of what is not compiled into a program.
BESIDE = {"tests", "test", "benches", "examples", "doc", "docs", "fuzz", "target", "ci", "contrib"}
# What is not a text: sources that are called so.
CODE = {".rs", ".c", ".h", ".py", ".toml", ".html"}


def texts_of(folder: Path) -> list[Path]:
    """The licences in a crate's folder."""
    found = []
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).parts
        if len(inside) > DEEPEST or BESIDE.intersection(inside[:-1]) or path.suffix in CODE or not path.is_file():
            continue
        # REUSE has them in a folder.
        if LICENCE.fullmatch(path.name) or (len(inside) > 1 and inside[-2] == "LICENSES"):
            found.append(path)
    return sorted(found)


def main() -> int:
    """Prints the notices."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="a package of cargo, such as forebay")
    parser.add_argument("--target", help="the triple that they are built for, by default this machine's")
    asked = parser.parse_args()
    # The texts of some are in Latin scripts beyond ASCII, whatever the locale is.
    sys.stdout.reconfigure(encoding="utf-8")
    wanted = linked(asked.packages, asked.target)
    crates = known()
    texts: dict[str, list[str]] = {}
    print(PREAMBLE)
    if any(name == "turbojpeg-sys" for name, _ in wanted):
        print(OF_JPEG)
    bare = []
    for key in sorted(wanted):
        crate = crates[key]
        folder = Path(crate["manifest_path"]).parent
        # Those without a source are this workspace's. One of them has the files of a library in a folder.
        if crate["source"] is None and not texts_of(folder):
            continue
        name = f"{crate['name']} {crate['version']}"
        licence = crate["license"] or crate["license_file"] or sys.exit(f"notices.py: {name} names no licence")
        print(f"{name}: {licence}")
        found = [(path.relative_to(folder), path.read_text(errors="replace")) for path in texts_of(folder)]
        taken = [(inside, text) for inside, text in found if not NOT_TAKEN.match(text)]
        bare += [] if taken else [name]
        for inside, text in taken:
            lines = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
            texts.setdefault(lines, []).append(f"{name} ({inside})")
    if bare:
        print(f"\nNo text comes with {', '.join(bare)}: the licence that is named above has its text below.")
    for text, owners in texts.items():
        print(f"\n{'-' * 80}\n{', '.join(owners)}:\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
