"""bfloat16 in arrays of numpy, which has no such type."""

from __future__ import annotations

import numpy as np

__all__ = ["BFLOAT16_BITS", "name_of"]

# What images of bfloat16 are in numpy, and nothing else in a batch: their bits.
BFLOAT16_BITS = np.dtype(np.uint16)


def name_of(dtype: np.dtype) -> str:
    """Name of the type of a batch's values, as settings have it."""
    return "bfloat16" if dtype == BFLOAT16_BITS else dtype.name
