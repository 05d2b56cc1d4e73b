"""The pictures of a dataset: those below a folder, or those that a .csv file or a .txt list names."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator

from forebay.errors import DatasetError
from forebay.image_folder import pictures

__all__ = ["Record", "records", "shown"]

# Columns of a table that may have the paths.
_PATHS = ("path", "file", "filename", "image")
# What a terminal obeys or hides, and bytes that are no UTF-8, as `os.fsdecode` gives them.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")

# Path of a picture, and its name for people.
Record = tuple[str, str]


def records(path: str) -> list[Record]:
    """The pictures of a dataset, in the order of a Loader's records.

    Raises:
        DatasetError: There are none, or the path is something else.
        OSError: It cannot be read.
    """
    if os.path.isdir(path):
        found = [os.fsdecode(each) for each in sorted(pictures(os.fsencode(path)))]
        named = [(os.path.join(path, each), shown(each)) for each in found]
    elif path.lower().endswith((".csv", ".txt")):
        folder = os.path.dirname(path)
        named = [(os.path.join(folder, each), shown(os.path.join(folder, each))) for each in _listed(path)]
    else:
        os.stat(path)
        raise DatasetError(f"{shown(path)}: give a folder of pictures, a .csv file or a .txt list")
    if not named:
        raise DatasetError(f"{shown(path)}: there are no pictures")
    return named


def shown(text: str) -> str:
    """Text from outside, without characters that command a terminal."""
    return _OBEYED.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\u{{{number:x}}}")


def _listed(path: str) -> Iterator[str]:
    """The paths that a table or a list has."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        if path.lower().endswith(".txt"):
            yield from (line.rstrip("\r\n") for line in file if line.strip())
            return
        rows = (row for row in csv.reader(file) if row)
        first = next(rows, [])
        column = next((at for at, name in enumerate(first) if name.strip().lower() in _PATHS), None)
        # A table without a header has its paths in the first column.
        is_header = column is not None and not os.path.exists(os.path.join(os.path.dirname(path), first[column]))
        if first and not is_header:
            yield first[0]
        yield from (row[column if is_header and column is not None else 0] for row in rows)
