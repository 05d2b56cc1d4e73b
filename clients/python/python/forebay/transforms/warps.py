"""Steps that turn and shear the picture. Boxes, points and masks cannot follow them yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forebay.transforms.transform import Transform

__all__ = ["AutoAugment", "RandAugment", "RandomAffine", "RandomRotation", "TrivialAugmentWide"]


@dataclass(frozen=True)
class RandomAffine(Transform):
    """Turns, moves, scales and shears the picture by random amounts.

    Args:
        degrees: How far it is turned at most, or (least, greatest).
        translate: How far it is moved at most, as parts of its width and height.
        scale: Least and greatest scale. None is 1.
        shear: Degrees along the rows: at most, or (least, greatest). Four numbers are for the columns too.
        interpolation: Filter: "nearest", "bilinear" or "bicubic".
        fill: Value of pixels from outside of the picture, or red, green and blue.
        center: The point that everything turns about, in pixels. None is the middle.

    Example:
        >>> RandomAffine(15, translate=(0.1, 0.1)).to_settings()["random_affine"]["translate"]
        [0.1, 0.1]
    """

    degrees: float | Sequence[float]
    translate: tuple[float, float] | None = None
    scale: tuple[float, float] | None = None
    shear: float | Sequence[float] | None = None
    interpolation: str = "nearest"
    fill: float | Sequence[float] = 0
    center: tuple[float, float] | None = None


@dataclass(frozen=True)
class RandomRotation(Transform):
    """Turns the picture by a random angle. It keeps its size.

    Args:
        degrees: How far it is turned at most, or (least, greatest).
        interpolation: Filter: "nearest", "bilinear" or "bicubic".
        center: The point that everything turns about, in pixels. None is the middle.
        fill: Value of pixels from outside of the picture, or red, green and blue.

    Example:
        >>> RandomRotation(10).to_settings()
        {'random_rotation': {'degrees': 10, 'interpolation': 'nearest', 'fill': 0}}
    """

    degrees: float | Sequence[float]
    interpolation: str = "nearest"
    center: tuple[float, float] | None = None
    fill: float | Sequence[float] = 0


@dataclass(frozen=True)
class AutoAugment(Transform):
    """Carries out a random pair of operations out of a policy, each with its own probability.

    Args:
        policy: The dataset that the policy was found for: "imagenet", "cifar10" or "svhn".
        interpolation: Filter of what is moved: "nearest", "bilinear" or "bicubic".
        fill: Value of pixels from outside of the picture. None is black.

    Example:
        >>> AutoAugment("cifar10").to_settings()
        {'auto_augment': {'policy': 'cifar10', 'interpolation': 'nearest'}}
    """

    policy: str = "imagenet"
    interpolation: str = "nearest"
    fill: float | Sequence[float] | None = None


@dataclass(frozen=True)
class RandAugment(Transform):
    """Carries out random operations, all with one magnitude.

    Args:
        num_ops: How many operations.
        magnitude: Their magnitude, from 0.
        num_magnitude_bins: How many magnitudes there are.
        interpolation: Filter of what is moved: "nearest", "bilinear" or "bicubic".
        fill: Value of pixels from outside of the picture. None is black.

    Example:
        >>> RandAugment(magnitude=5).to_settings()["rand_augment"]["magnitude"]
        5
    """

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31
    interpolation: str = "nearest"
    fill: float | Sequence[float] | None = None


@dataclass(frozen=True)
class TrivialAugmentWide(Transform):
    """Carries out one random operation with a random magnitude.

    Args:
        num_magnitude_bins: How many magnitudes there are.
        interpolation: Filter of what is moved: "nearest", "bilinear" or "bicubic".
        fill: Value of pixels from outside of the picture. None is black.

    Example:
        >>> TrivialAugmentWide().to_settings()
        {'trivial_augment_wide': {'num_magnitude_bins': 31, 'interpolation': 'nearest'}}
    """

    num_magnitude_bins: int = 31
    interpolation: str = "nearest"
    fill: float | Sequence[float] | None = None
