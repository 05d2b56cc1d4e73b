"""Encodes lists of files, with or without labels, in the form that the daemon reads. Pure: opens no file."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any, Union

import numpy as np

from forebay.errors import SettingsError

__all__ = ["Listed", "listed"]

_Path = Union[str, "os.PathLike[str]"]
Listed = Union[_Path, "tuple[_Path, int | str]"]

_LIMIT = 1 << 63
_HOW = "give each entry as a path, or each as (path, label) with an int or str as label"


def listed(source: Iterable[Any], *, rooted: bool) -> bytes:
    """Encodes a list for the daemon: the paths, separated by NUL bytes, which no path can contain.

    If the entries are pairs, the list begins with a NUL byte, and each path is followed by its label.

    Args:
        source: Paths, or (path, label) pairs such as `ImageFolder.samples` of torchvision.
        rooted: Whether relative paths start at a folder that the caller gave, instead of this process's working folder.

    Raises:
        SettingsError: An entry is neither a path nor a pair, or the list mixes both kinds.
    """
    if isinstance(source, np.ndarray):
        source = source.tolist()
    parts: list[bytes] = []
    first, pairs = None, False
    # Entries are looked at as they come: those of a dataset of torchvision would be decoded pictures.
    for number, entry in enumerate(_entries(source)):
        if number == 0:
            first, pairs = entry, _is_pair(entry)
            parts += [b""] if pairs else []
        elif _is_pair(entry) != pairs:
            entries_differ = f"entry {number} of the list is {entry!r}, and entry 0 is {first!r}"
            raise SettingsError(f"source: {entries_differ}; {_HOW}")
        path, label = entry if pairs else (entry, None)
        parts.append(_path(path, number, rooted))
        if pairs:
            parts.append(_label(label, number))
    if not parts:
        raise SettingsError("source: the list of files is empty")
    return b"\0".join(parts)


def _entries(source: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever the caller gave
    # Bytes are a list of numbers.
    if not isinstance(source, (bytes, bytearray, memoryview)):
        try:
            return iter(source)
        except TypeError:
            pass
    kind = type(source).__name__
    raise SettingsError(f"source is of type {kind}: give a path or a URL as str, a path of pathlib, or a list of files")


def _is_pair(entry: Any) -> bool:  # noqa: ANN401 - whatever the caller gave
    return isinstance(entry, (tuple, list, np.ndarray)) and len(entry) == 2


def _path(path: Any, number: int, rooted: bool) -> bytes:  # noqa: ANN401 - whatever the caller gave
    if not isinstance(path, (str, bytes, os.PathLike)):
        samples = "; of an ImageFolder, give its samples" if number == 0 else ""
        raise SettingsError(
            f"source: entry {number} of the list has {path!r} in it, which is not a path; {_HOW}{samples}"
        )
    if not path:
        raise SettingsError(f"source: entry {number} of the list has an empty path")
    name = os.fsencode(path) if rooted else os.path.abspath(os.fsencode(path))
    if b"\0" in name:
        raise SettingsError(f"source: the path {os.fsdecode(name)!r} has a NUL byte, which no path can have")
    return name


def _label(label: Any, number: int) -> bytes:  # noqa: ANN401 - whatever the caller gave
    if isinstance(label, str):
        if not label or "\0" in label:
            what = "has a NUL byte" if label else "is empty"
            raise SettingsError(f"source: the label {label!r} of entry {number} {what}; give a text without it")
        return b"t" + label.encode(errors="replace")
    try:
        value = operator.index(label.item() if isinstance(label, np.generic) else label)
    except TypeError:
        kind = type(label).__name__
        raise SettingsError(f"source: the label {label!r} of entry {number} is a {kind}; {_HOW}") from None
    if not -_LIMIT <= value < _LIMIT:
        raise SettingsError(f"source: the label {value} of entry {number} does not fit into 64 bits")
    return b"i%d" % value
