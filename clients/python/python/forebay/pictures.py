"""The pictures of a ragged batch, each with a size of its own, as views of one array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

__all__ = ["cut_pictures", "joined_pixels"]

A = TypeVar("A", bound=Any)


def joined_pixels(room: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """The pixels of all pictures of a batch: `(pixels, channels)`, a view.

    Args:
        room: What has them, with channels as the last axis, and perhaps more behind them.
        shown: `(n, 2)`: height and width of each picture, 0 and 0 where a place has none.

    Raises:
        ValueError: The pictures have more pixels than there are.
    """
    rows, pixels = room.reshape((-1, room.shape[-1])), int(shown.prod(axis=1, dtype=np.int64).sum())
    if pixels > len(rows):
        raise ValueError(f"pictures of {pixels} pixels are not in a batch of {len(rows)}")
    return rows[:pixels]


def cut_pictures(pixels: A, shown: np.ndarray) -> list[A]:
    """The pictures of a batch, without a copy: `n` views of `(height, width, channels)`.

    Args:
        pixels: The pixels of all pictures, one after the other: `(pixels, channels)`.
        shown: `(n, 2)`: height and width of each picture.
    """
    pictures, first = [], 0
    for height, width in shown.tolist():
        last = first + height * width
        pictures.append(pixels[first:last].reshape((height, width, pixels.shape[-1])))
        first = last
    return pictures
