"""What happens to a picture between the decoder and the batch, under torchvision's names and meanings.

A list of these is `Loader(transform=[...])`. The last step but flips and `Normalize` must give a fixed size. Every
random choice is a function of seed, epoch and record, so that a picture gets the same crop on every machine and
after every restart.

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
    """One step. Its settings are what a `transform` list in the daemon's configuration holds."""

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """The step as a table with one key, its name in snake case."""
        raise NotImplementedError


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """A random part of the picture, resized to `size`.

    Args:
        size: Side of a square, or (height, width), in pixels.
        scale: Least and greatest share of the picture's area.
        ratio: Least and greatest width / height of the part.
        interpolation: "bilinear" with antialiasing.
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
    """The whole picture in another size.

    Args:
        size: The shorter side's length, which keeps the aspect ratio, or (height, width).
        interpolation: "bilinear" with antialiasing.
    """

    size: Size
    interpolation: str = "bilinear"

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"resize": {"size": _size(self.size), "interpolation": self.interpolation}}


@dataclass(frozen=True)
class CenterCrop(Transform):
    """The middle of the picture.

    Args:
        size: Side of a square, or (height, width), in pixels.
    """

    size: Size

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"center_crop": {"size": _size(self.size)}}


@dataclass(frozen=True)
class Pad(Transform):
    """Sides that are too short grow to `size`, the picture in the middle; longer ones stay.

    Args:
        size: Side of a square, or (height, width), in pixels.
        fill: Value of the added pixels, 0 to 255.
    """

    size: Size
    fill: int = 0

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        size = [self.size, self.size] if isinstance(self.size, int) else list(self.size)
        return {"pad": {"size": size, "fill": self.fill}}


@dataclass(frozen=True)
class RandomHorizontalFlip(Transform):
    """Left and right change places, with probability `p`."""

    p: float = 0.5

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"random_horizontal_flip": {"p": self.p}}


@dataclass(frozen=True)
class Normalize(Transform):
    """(x / 255 - mean) / std per channel; needs a float dtype.

    Args:
        mean: Red, green, blue, of values from 0 to 1.
        std: The same.
    """

    mean: Sequence[float]
    std: Sequence[float]

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """See `Transform.to_settings`."""
        return {"normalize": {"mean": list(self.mean), "std": list(self.std)}}


def _size(size: Size) -> int | list[int]:
    return size if isinstance(size, int) else list(size)
