"""Steps that move pixels: crops, resizes, borders and flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from forebay.transforms.transform import Transform

__all__ = ["CenterCrop", "Crop", "Pad", "RandomHorizontalFlip", "RandomResizedCrop", "Resize", "Size"]

Size = Union[int, Sequence[int]]


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """Cuts a random part out of the picture, and resizes it to `size`.

    Args:
        size: Side of a square, or (height, width), in pixels.
        scale: Smallest and largest share of the picture's area, each from 0 to 1.
        ratio: Smallest and largest width / height of the part.
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest"
            antialias.

    Example:
        >>> RandomResizedCrop(224, scale=(0.2, 1.0))
        RandomResizedCrop(size=224, scale=(0.2, 1.0), ratio=(0.75, 1.3333333333333333), interpolation='bilinear')
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class Resize(Transform):
    """Resizes the whole picture.

    Args:
        size: Length of the shorter side, which keeps the aspect ratio; or (height, width). In pixels.
        interpolation: Filter: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest" antialias.

    Example:
        >>> Resize((224, 320)).to_settings()
        {'resize': {'size': [224, 320], 'interpolation': 'bilinear'}}
    """

    size: Size
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Cuts out the middle of the picture. A smaller picture gets a black border.

    Args:
        size: Side of a square, or (height, width), in pixels.

    Example:
        >>> CenterCrop(224).to_settings()
        {'center_crop': {'size': 224}}
    """

    size: Size


@dataclass(frozen=True)
class Crop(Transform):
    """Cuts out a part of the picture. It is black where it reaches beyond the picture.

    Args:
        top: First row. Negative above the picture.
        left: First column. Negative left of the picture.
        height: Rows.
        width: Columns.

    Example:
        >>> Crop(0, 10, 224, 224).to_settings()
        {'crop': {'top': 0, 'left': 10, 'height': 224, 'width': 224}}
    """

    top: int
    left: int
    height: int
    width: int


@dataclass(frozen=True)
class Pad(Transform):
    """Adds a border, so that each side has at least the length in `size`. The picture stays in the middle.

    Args:
        size: Side of a square, or (height, width), in pixels.
        fill: Value of the border's pixels, from 0 to 255, if they are constant.
        padding_mode: What the border shows: "constant", "edge" (the outermost pixels), "reflect" (the picture
            mirrored, without the outermost pixels) or "symmetric" (mirrored with them).

    Example:
        >>> Pad((224, 320), fill=128).to_settings()
        {'pad': {'size': [224, 320], 'fill': 128, 'padding_mode': 'constant'}}
    """

    size: Size
    fill: int = 0
    padding_mode: str = "constant"


@dataclass(frozen=True)
class RandomHorizontalFlip(Transform):
    """Mirrors the picture left to right, with a probability.

    Args:
        p: The probability, from 0 to 1.

    Example:
        >>> RandomHorizontalFlip(0.25).to_settings()
        {'random_horizontal_flip': {'p': 0.25}}
    """

    p: float = 0.5
