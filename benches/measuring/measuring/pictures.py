"""Folders of pictures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

JPEG = (".jpg", ".jpeg")


def pictures(folder: Path, ends: Collection[str] = JPEG) -> list[Path]:
    """The files below a folder whose names have these ends, in any case, in the order of their paths."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in ends and path.is_file())
