"""Steps that turn and shear the picture. Boxes, points and masks follow all of them, except `AugMix`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forebay.transforms.transform import Transform

__all__ = [
    "AugMix",
    "AutoAugment",
    "RandAugment",
    "RandomAffine",
    "RandomPerspective",
    "RandomRotation",
    "TimmRandAugment",
    "TrivialAugmentWide",
]


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
    """Turns the picture by a random angle.

    Args:
        degrees: How far it is turned at most, or (least, greatest).
        interpolation: Filter: "nearest", "bilinear" or "bicubic".
        expand: Whether the result is so large that it shows all of the picture. If not, it has the picture's size.
        center: The point that everything turns about, in pixels. None is the middle.
        fill: Value of pixels from outside of the picture, or red, green and blue.

    Example:
        >>> RandomRotation(10).to_settings()
        {'random_rotation': {'degrees': 10, 'interpolation': 'nearest', 'expand': False, 'fill': 0}}
    """

    degrees: float | Sequence[float]
    interpolation: str = "nearest"
    expand: bool = False
    center: tuple[float, float] | None = None
    fill: float | Sequence[float] = 0


@dataclass(frozen=True)
class RandomPerspective(Transform):
    """Moves the corners of the picture inwards by random amounts, with a probability.

    Args:
        distortion_scale: How far a corner moves at most, as a part of half the picture's sides.
        p: The probability, from 0 to 1.
        interpolation: Filter: "nearest", "bilinear" or "bicubic".
        fill: Value of pixels from outside of the picture, or red, green and blue.

    Example:
        >>> RandomPerspective(0.3).to_settings()
        {'random_perspective': {'distortion_scale': 0.3, 'p': 0.5, 'interpolation': 'bilinear', 'fill': 0}}
    """

    distortion_scale: float = 0.5
    p: float = 0.5
    interpolation: str = "bilinear"
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


@dataclass(frozen=True)
class AugMix(Transform):
    """Mixes the picture with random chains of operations on it. The operations are torchvision's for tensors.

    Args:
        severity: Greatest magnitude of an operation, from 1 to 10.
        mixture_width: How many chains.
        chain_depth: Operations of each chain. If not above 0, one to three.
        alpha: Parameter of the distributions that the weights are drawn from.
        all_ops: Whether brightness, colour, contrast and sharpness are among the operations.
        interpolation: Filter of what is moved: "nearest" or "bilinear".
        fill: Value of pixels from outside of the picture. None is black.

    Example:
        >>> AugMix(severity=5).to_settings()["aug_mix"]["chain_depth"]
        -1
    """

    severity: int = 3
    mixture_width: int = 3
    chain_depth: int = -1
    alpha: float = 1.0
    all_ops: bool = True
    interpolation: str = "bilinear"
    fill: float | Sequence[float] | None = None


@dataclass(frozen=True)
class TimmRandAugment(Transform):
    """Carries out random operations, as timm's RandAugment does.

    Args:
        config: timm's text: "rand", and any of m9 (magnitude), mstd0.5 (its standard deviation), mmax10 (its maximum),
            n2 (how many operations), p0.5 (the probability of each) and inc1 (greater magnitudes change more).
        fill: Value of pixels from outside of the picture. timm's is the mean of the dataset.
        interpolation: Filter of what is moved. None is "bilinear" or "bicubic" by chance.

    Example:
        >>> TimmRandAugment("rand-m9-mstd0.5-inc1").to_settings()["timm_rand_augment"]["fill"]
        [124, 116, 104]
    """

    config: str
    fill: float | Sequence[float] = (124, 116, 104)
    interpolation: str | None = None
