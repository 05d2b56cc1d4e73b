"""Steps between the decoder and the batch, with torchvision's names and meanings.

`Loader(transform=[...])` takes a list of them. After the list, all images must have one size: the last step, apart from
flips and `Normalize`, must give a fixed size. Every random choice depends only on seed, epoch and record, so a picture
gets the same crop on every machine and after every restart.

Example:
    >>> from forebay import transforms
    >>> train = [
    ...     transforms.RandomResizedCrop(224),
    ...     transforms.RandomHorizontalFlip(0.5),
    ...     transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ... ]
    >>> train[1].to_settings()
    {'random_horizontal_flip': {'p': 0.5}}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

__all__ = [
    "CenterCrop",
    "Normalize",
    "Pad",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "Resize",
    "Transform",
]

Size = Union[int, Sequence[int]]


class Transform:
    """One step. A `transform` list in the daemon's configuration has the same steps as tables."""

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """The step as a table with one key, which is its name in snake case."""
        raise NotImplementedError


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """Cuts a random part out of the picture, and resizes it to `size`.

    Args:
        size: Side of a square, or (height, width), in pixels.
        scale: Smallest and largest share of the picture's area, each from 0 to 1.
        ratio: Smallest and largest width / height of the part.
        interpolation: The filter of the resize, such as "bilinear" or "bicubic", with antialiasing.

    Example:
        >>> RandomResizedCrop(224, scale=(0.2, 1.0)).size
        224
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: str = "bilinear"

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {
            "random_resized_crop": {
                "size": _size(self.size),
                "scale": list(self.scale),
                "ratio": list(self.ratio),
                "interpolation": self.interpolation,
            }
        }


@dataclass(frozen=True)
class Resize(Transform):
    """Resizes the whole picture.

    Args:
        size: Length of the shorter side, which keeps the aspect ratio; or (height, width). In pixels.
        interpolation: The filter, such as "bilinear" or "bicubic", with antialiasing.

    Example:
        >>> Resize((224, 320)).to_settings()
        {'resize': {'size': [224, 320], 'interpolation': 'bilinear'}}
    """

    size: Size
    interpolation: str = "bilinear"

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"resize": {"size": _size(self.size), "interpolation": self.interpolation}}


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Cuts out the middle of the picture.

    Args:
        size: Side of a square, or (height, width), in pixels.

    Example:
        >>> CenterCrop(224).to_settings()
        {'center_crop': {'size': 224}}
    """

    size: Size

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"center_crop": {"size": _size(self.size)}}


@dataclass(frozen=True)
class Pad(Transform):
    """Adds a border, so that each side has at least the length in `size`. The picture stays in the middle.

    Args:
        size: Side of a square, or (height, width), in pixels.
        fill: Value of the border's pixels, from 0 to 255.

    Example:
        >>> Pad((224, 320), fill=128).to_settings()
        {'pad': {'size': [224, 320], 'fill': 128}}
    """

    size: Size
    fill: int = 0

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        size = [self.size, self.size] if isinstance(self.size, int) else list(self.size)
        return {"pad": {"size": size, "fill": self.fill}}


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

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"random_horizontal_flip": {"p": self.p}}


@dataclass(frozen=True)
class Normalize(Transform):
    """Computes `(x / 255 - mean) / std` for each channel. Needs a float dtype.

    Args:
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.

    Example:
        >>> Normalize(mean=[0.5, 0.5, 0.5], std=[0.25, 0.25, 0.25]).to_settings()
        {'normalize': {'mean': [0.5, 0.5, 0.5], 'std': [0.25, 0.25, 0.25]}}
    """

    mean: Sequence[float]
    std: Sequence[float]

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"normalize": {"mean": list(self.mean), "std": list(self.std)}}


def _size(size: Size) -> int | list[int]:
    return size if isinstance(size, int) else list(size)
