"""Which files DALI's file reader lists, in its order, and with which labels."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Sequence
from typing import Callable, Union

from forebay.errors import DatasetError, SettingsError

__all__ = ["below", "given", "in_list", "refuse_url"]

Samples = list[tuple[str, int]]
_Path = Union[str, "os.PathLike[str]"]

# DALI's own list without sounds.
_PICTURES = ("jpg", "jpeg", "png", "bmp", "tif", "tiff", "pnm", "ppm", "pgm", "pbm", "jp2", "webp")
# The label is the number behind the last space.
_LINE = re.compile(rb"(.+?)\s+(\d+)\s*", re.DOTALL)
_LABELS = range(-(1 << 31), 1 << 31)


def refuse_url(name: str, path: _Path) -> None:
    """Refuses URLs.

    Args:
        name: Where the path was given, such as "file_root".
        path: The path.

    Raises:
        SettingsError: It is a URL.
    """
    if "://" in os.fspath(path):
        raise SettingsError(
            f"{name}: {os.fspath(path)!r} is a URL, and only files of this machine are listed as DALI lists them. "
            "forebay.Loader reads object stores"
        )


def below(
    root: _Path, file_filters: Sequence[str] | None, dir_filters: Sequence[str] | None, *, case_sensitive: bool
) -> Samples:
    """The files in the folders of a folder. The label is the number of the folder, in the order of names.

    Each folder counts, also an empty or a hidden one. Folders inside of them are not read.

    Args:
        root: The folder.
        file_filters: Patterns such as `*.jpg`, one of which a file's name must match. None is pictures of any kind.
        dir_filters: The same for the names of folders. None is all.
        case_sensitive: Whether the case of names matters to the patterns.

    Raises:
        DatasetError: A folder cannot be read.
        SettingsError: `file_filters` is empty.
    """
    if file_filters is not None and not file_filters:
        raise SettingsError("file_filters is empty: give at least one pattern such as *.jpg, or leave it out")
    is_file = _matching(file_filters or [f"*.{extension}" for extension in _PICTURES], case_sensitive=case_sensitive)
    is_class = _matching(dir_filters or ["*"], case_sensitive=case_sensitive)
    folder = os.path.abspath(os.fspath(root))
    try:
        classes = _names(folder, lambda entry: entry.is_dir() and is_class(entry.name))
        samples: Samples = []
        for label, name in enumerate(classes):
            inside = os.path.join(folder, name)
            files = _names(inside, lambda entry: _may_be_read(entry) and is_file(entry.name))
            samples.extend((os.path.join(inside, file), label) for file in files)
    except OSError as error:
        raise DatasetError(f"file_root: {error.filename} cannot be read: {error.strerror}") from None
    return samples


def in_list(path: _Path, root: _Path | None) -> Samples:
    """The files and labels of a text file: each line has a path, a space and a number.

    Args:
        path: The text file.
        root: Folder where relative paths start. None is the folder of the text file.

    Raises:
        DatasetError: The text file cannot be read.
        SettingsError: A line has no label, or a URL.
    """
    start = os.path.dirname(os.path.abspath(path)) if root is None else os.path.abspath(root)
    samples: Samples = []
    try:
        with open(path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                found = _LINE.fullmatch(line)
                if found is None or not found[1].strip():
                    text = os.fsdecode(line.rstrip())
                    raise SettingsError(
                        f"file_list: line {number} of {path} is {text!r}; give a path, a space and a label"
                    )
                named = os.fsdecode(found[1])
                refuse_url(f"file_list: line {number} of {path}", named)
                samples.append((os.path.join(start, named), _label(int(found[2]), f"line {number} of {path}")))
    except OSError as error:
        raise DatasetError(f"file_list: {path} cannot be read: {error.strerror}") from None
    return samples


def given(files: Iterable[_Path], labels: Iterable[int] | None, root: _Path | None) -> Samples:
    """Files and labels that the caller gave. Without labels, a file's label is its place in the list.

    Raises:
        SettingsError: There are not as many labels as files, a label is no number of 32 bits, or a path is a URL.
    """
    start = os.getcwd() if root is None else os.path.abspath(root)
    named = list(files)
    for entry, path in enumerate(named):
        refuse_url(f"files[{entry}]", path)
    paths = [os.path.join(start, os.fspath(path)) for path in named]
    if labels is None:
        return [(path, label) for label, path in enumerate(paths)]
    numbers = list(labels)
    if len(numbers) != len(paths):
        raise SettingsError(f"labels: there are {len(numbers)} labels for {len(paths)} files; give one for each")
    return [(path, _label(label, f"entry {entry}")) for entry, (path, label) in enumerate(zip(paths, numbers))]


def _label(given: object, where: str) -> int:
    try:
        label = int(given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        label = None
    if label is None or label != given or label not in _LABELS:
        raise SettingsError(f"labels: {where} has the label {given!r}; DALI's labels are whole numbers of 32 bits")
    return label


def _names(folder: str, wanted: Callable[[os.DirEntry[str]], bool]) -> list[str]:
    """Names in a folder, in the order of their bytes."""
    with os.scandir(folder) as entries:
        return sorted((entry.name for entry in entries if wanted(entry)), key=os.fsencode)


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False) or entry.is_symlink()


def _matching(patterns: Sequence[str], *, case_sensitive: bool) -> Callable[[str], bool]:
    flags = 0 if case_sensitive else re.IGNORECASE
    found = [re.compile(fnmatch.translate(pattern), flags) for pattern in patterns]
    return lambda name: any(pattern.match(name) for pattern in found)
