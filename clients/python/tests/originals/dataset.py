"""A dataset that a library wrote, and what that library reads from it."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np
from PIL import Image

SIDE = 16


@dataclass
class Dataset:
    """What a format's writer made."""

    source: str
    """What a Loader opens."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the Loader that the format needs."""


@dataclass
class Format:
    """A format and its original library."""

    name: str
    packages: tuple[str, ...]
    """The modules that must be installed."""
    write: Callable[[Path, list[bytes], list[int]], Dataset]
    """Writes pictures and labels into a folder."""
    read: Callable[[Path], list[tuple[bytes, int]]] | None = None
    """Reads pictures and labels back, in order, by the original library. None where there is no such reader."""
    labels: bool = True
    """Whether the format has a label for each picture."""

    def __str__(self) -> str:
        return self.name


def some_pictures(count: int) -> tuple[list[bytes], list[int]]:
    """PNG files of `SIDE` x `SIDE` pixels that all differ, in content and in size, and their labels."""
    random = np.random.default_rng(7)
    files = []
    for number in range(count):
        pixels = random.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        pixels[: number % SIDE] = number % 256
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG")
        files.append(file.getvalue())
    return files, [number % 7 for number in range(count)]


def pixels_of(file: bytes) -> np.ndarray:
    """The picture of a file, as Pillow decodes it."""
    return np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))
