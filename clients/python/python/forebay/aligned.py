"""Copies that are aligned, so that frameworks use them without another copy."""

from __future__ import annotations

import numpy as np

__all__ = ["aligned_copy"]

# TensorFlow and JAX copy memory that does not begin at a multiple of this.
_ALIGNMENT = 64


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A copy that frameworks take over without another copy."""
    room = np.empty(array.nbytes + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    copied = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    np.copyto(copied, array)
    return copied
