"""Names of the images' types. numpy has no bfloat16: its arrays hold the bits instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from forebay import frameworks

__all__ = ["BFLOAT16_BITS", "name_of", "parse", "signed"]

# The type of bfloat16 images in numpy. No other type of images is it.
BFLOAT16_BITS = np.dtype(np.uint16)

_SIGNED = {np.dtype(np.uint16): np.int32, np.dtype(np.uint32): np.int64, np.dtype(np.uint64): np.int64}


def name_of(dtype: np.dtype) -> str:
    """Name of the type of a batch's images, as settings write it."""
    return "bfloat16" if dtype == BFLOAT16_BITS else dtype.name


def parse(dtype: Any) -> str | None:  # noqa: ANN401 - whatever numpy or PyTorch takes
    """The name of what a caller gave as a type: a name, or a type of numpy or of a framework. None if it is no type."""
    named = frameworks.dtype_name(dtype)
    if "bfloat16" in (named, str(dtype)):
        return "bfloat16"
    try:
        name: str = np.dtype(dtype if named is None else named).name
    except TypeError:
        return None
    return name


def signed(column: Any) -> Any:  # noqa: ANN401 - an array, or pixels in a GPU
    """Unsigned numbers of more than a byte as signed ones, for frameworks that calculate with no others."""
    wider = _SIGNED.get(column.dtype) if isinstance(column, np.ndarray) else None
    return column if wider is None else column.astype(wider)
