"""Lists of steps that are carried out in this process, on one picture at a time."""

from __future__ import annotations

import functools
import json
import random
from typing import Any

import numpy as np

from forebay import frameworks
from forebay._native import TransformList

__all__ = ["BYTE_LIMIT", "PIXEL_LIMIT", "Carried", "Picture", "document", "made_of", "packed", "pipeline"]

# The bytes of a file, an array, or a tensor of a framework.
Picture = Any
# An array, or a tensor of the framework that the picture had.
Carried = Any

# Those of the daemon's configuration.
PIXEL_LIMIT = 178_956_970
BYTE_LIMIT = 1 << 30


def document(tables: Any) -> str:  # noqa: ANN401 - what JSON has
    """Steps or operations, which are tables as `Transform.to_settings` gives them, as the text that Rust reads."""
    return json.dumps(tables, default=_plain)


# A program has a few lists, and calls each of them for every picture.
@functools.lru_cache(maxsize=64)
def pipeline(
    steps: str,
    match: str = "pillow",
    adjust_orientation: bool = True,
    fill: tuple[int, int, int] | None = (0, 0, 0),
    reducing_gap: float | None = None,
    mode: str = "RGB",
) -> TransformList:
    """The checked list of the steps of a document.

    `fill` is what is seen where a picture is transparent; None leaves alpha out. With `reducing_gap`, JPEGs may be
    decoded at a smaller scale, as by Pillow's `Image.thumbnail`. `mode` is what a pixel has.

    Raises:
        ValueError: A step has wrong values.
    """
    return TransformList.of(steps, match, adjust_orientation, fill, reducing_gap, mode)


def made_of(
    pipeline: TransformList,
    picture: Picture,
    draw: tuple[int | None, int, int],
    limits: tuple[int, int] = (PIXEL_LIMIT, BYTE_LIMIT),
    name: str = "picture",
) -> Carried:
    """What a list of steps makes of a picture, whose name is for errors."""
    drawn = _drawn(*draw)
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return np.asarray(pipeline.decode(bytes(picture), drawn, limits, name))
    found = frameworks.as_picture(picture)
    given, like = found if found is not None else (picture, None)
    made = np.asarray(pipeline.transform(*packed(given, name), drawn, limits))
    return made if like is None else like(made)


def packed(picture: Picture, name: str) -> tuple[bytes, tuple[int, int]]:
    """The bytes of an array of pixels, and its (width, height).

    Raises:
        ValueError: It is no array of pixels.
    """
    pixels = np.asarray(picture)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(f"{name}: give a uint8 array of height x width x 3, not {pixels.dtype} of {pixels.shape}")
    height, width, _ = pixels.shape
    return pixels.tobytes(), (width, height)


def _drawn(seed: int | None, epoch: int, record: int) -> tuple[int, int, int]:
    drawn = (random.getrandbits(64) if seed is None else seed, epoch, record)
    wrong = next((name for name, value in zip(("seed", "epoch", "record"), drawn) if not 0 <= value < 1 << 64), None)
    if wrong is not None:
        raise ValueError(f"{wrong}: give a number from 0 to 2^64 - 1")
    return drawn


def _plain(value: Any) -> Any:  # noqa: ANN401 - what JSON does not know
    """Numbers and arrays of numpy as those of Python."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is no number")
