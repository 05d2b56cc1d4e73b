"""The arrays of a batch with all its places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Padded"]


class Padded(NamedTuple):
    """The arrays of a batch with all `batch_size` places, also those that `last_batch_policy` hides.

    Attributes:
        images: `(batch_size, height, width, 3)`, or `(batch_size, 3, height, width)` with `layout="NCHW"`, of the
            stream's dtype. See `Batch.images` for bfloat16. A `forebay.gpu.GpuArray` if the pixels are in a GPU. With
            `buckets="ragged"`, the pixels of all pictures, one after the other: `(pixels, 3)`.
        labels: `(batch_size,)` of int64; -1 without a label.
        records: `(batch_size,)` of int64: record numbers in the dataset's order; -1 where a place has no record.
        mask: `(batch_size,)` of bool: False where a place repeats a record or replaces a bad one.

    Example:
        >>> scores = model(batch.padded.images)                     # doctest: +SKIP
        >>> correct += (scores.argmax(1) == batch.padded.labels)[batch.padded.mask].sum()       # doctest: +SKIP
    """

    images: np.ndarray
    labels: np.ndarray
    records: np.ndarray
    mask: np.ndarray
