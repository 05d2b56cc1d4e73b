"""The patches of a batch as arrays of numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Patches", "patches_of"]


class Patches(NamedTuple):
    """The patches of a batch: `Batch.patches()` gives them.

    Attributes:
        patches: `(n, length, side * side * channels)` of the stream's dtype: a view. In a patch, rows of pixels follow
            each other, and the channels of a pixel are together.
        coord: `(n, length, 2)` of int32: row and column of each patch in its picture, and 0 in padding.
        valid: `(n, length)` of bool: False in padding.
    """

    patches: np.ndarray
    coord: np.ndarray
    valid: np.ndarray


def patches_of(images: np.ndarray, grid: np.ndarray) -> Patches:
    """Patches of a batch.

    Args:
        images: `(n, length, pixels, channels)`.
        grid: `(n, 2)`: rows and columns of patches of each picture.
    """
    places, length, pixels, channels = images.shape
    number = np.arange(length, dtype=np.int32)
    # A place without a picture has no columns.
    columns = np.maximum(grid[:, 1:], 1)
    valid = number < grid.prod(axis=1, dtype=np.int64)[:, None]
    coord = np.stack((number // columns, number % columns), axis=2)
    return Patches(images.reshape(places, length, pixels * channels), coord * valid[:, :, None], valid)
