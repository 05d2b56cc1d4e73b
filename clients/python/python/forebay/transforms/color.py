"""Steps that change the values of pixels, each at its own place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional, Union

from forebay.transforms.transform import Transform

__all__ = [
    "ColorJitter",
    "GaussianBlur",
    "Grayscale",
    "Normalize",
    "PillowGaussianBlur",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHSV",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
    "ThreeAugment",
]

Jitter = Optional[Union[float, Sequence[float]]]


@dataclass(frozen=True)
class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue by random factors, in a random order.

    Args:
        brightness: How far the factor may be from 1, or (least, greatest). 1 changes nothing. None is no change.
        contrast: The same for the contrast.
        saturation: The same for the saturation.
        hue: How far the hue may turn, as a part of a full circle, or (least, greatest). At most 0.5.

    Example:
        >>> ColorJitter(0.4, hue=(-0.1, 0.1)).to_settings()
        {'color_jitter': {'brightness': 0.4, 'hue': [-0.1, 0.1]}}
    """

    brightness: Jitter = None
    contrast: Jitter = None
    saturation: Jitter = None
    hue: Jitter = None


@dataclass(frozen=True)
class Grayscale(Transform):
    """Takes all colours away. The picture keeps three channels, which are equal.

    Args:
        num_output_channels: Always 3. torchvision's default is 1.

    Example:
        >>> Grayscale().to_settings()
        {'grayscale': {'num_output_channels': 3}}
    """

    num_output_channels: int = 3


@dataclass(frozen=True)
class RandomGrayscale(Transform):
    """Takes all colours away, with a probability.

    Args:
        p: The probability, from 0 to 1.

    Example:
        >>> RandomGrayscale(0.2).to_settings()
        {'random_grayscale': {'p': 0.2}}
    """

    p: float = 0.1


@dataclass(frozen=True)
class RandomHSV(Transform):
    """Changes hue, saturation and value by random gains, with the names and defaults of Ultralytics' settings.

    The arithmetic is not OpenCV's: Pillow's hue has 255 steps, and OpenCV's has 180. So single values differ from those
    of Ultralytics. The gains have the same meaning and the same distribution.

    Args:
        hsv_h: How far the hue is turned at most, as a part of a full circle, from 0 to 1.
        hsv_s: How far the factor of the saturation may be from 1, from 0 to 1.
        hsv_v: How far the factor of the value may be from 1, from 0 to 1.

    Example:
        >>> RandomHSV(hsv_s=0.5).to_settings()
        {'random_hsv': {'hsv_h': 0.015, 'hsv_s': 0.5, 'hsv_v': 0.4}}
    """

    hsv_h: float = 0.015
    hsv_s: float = 0.7
    hsv_v: float = 0.4


@dataclass(frozen=True)
class RandomAdjustSharpness(Transform):
    """Blurs or sharpens the picture, with a probability.

    Args:
        sharpness_factor: 0 blurs, 1 changes nothing, 2 sharpens.
        p: The probability, from 0 to 1.

    Example:
        >>> RandomAdjustSharpness(2).to_settings()
        {'random_adjust_sharpness': {'sharpness_factor': 2, 'p': 0.5}}
    """

    sharpness_factor: float
    p: float = 0.5


@dataclass(frozen=True)
class RandomSolarize(Transform):
    """Inverts values from a threshold up, with a probability.

    Args:
        threshold: The lowest value that is inverted. 0 inverts all, and above 255 nothing is inverted.
        p: The probability, from 0 to 1.

    Example:
        >>> RandomSolarize(128, p=0.2).to_settings()
        {'random_solarize': {'threshold': 128, 'p': 0.2}}
    """

    threshold: float
    p: float = 0.5


@dataclass(frozen=True)
class RandomPosterize(Transform):
    """Sets the lower bits of every value to 0, with a probability.

    Args:
        bits: How many of 8 bits are kept.
        p: The probability, from 0 to 1.

    Example:
        >>> RandomPosterize(4).to_settings()
        {'random_posterize': {'bits': 4, 'p': 0.5}}
    """

    bits: int
    p: float = 0.5


@dataclass(frozen=True)
class RandomInvert(Transform):
    """Inverts all values, with a probability.

    Args:
        p: The probability, from 0 to 1.

    Example:
        >>> RandomInvert().to_settings()
        {'random_invert': {'p': 0.5}}
    """

    p: float = 0.5


@dataclass(frozen=True)
class RandomAutocontrast(Transform):
    """Stretches each channel, so that its lowest value becomes 0 and its highest 255. With a probability.

    Args:
        p: The probability, from 0 to 1.

    Example:
        >>> RandomAutocontrast().to_settings()
        {'random_autocontrast': {'p': 0.5}}
    """

    p: float = 0.5


@dataclass(frozen=True)
class RandomEqualize(Transform):
    """Spreads the values of each channel evenly, with a probability.

    Args:
        p: The probability, from 0 to 1.

    Example:
        >>> RandomEqualize().to_settings()
        {'random_equalize': {'p': 0.5}}
    """

    p: float = 0.5


@dataclass(frozen=True)
class GaussianBlur(Transform):
    """Blurs the picture with a Gaussian kernel, whose standard deviation is random.

    Args:
        kernel_size: Width and height of the kernel, or one number for both. Odd.
        sigma: Least and greatest standard deviation in pixels, or the only one.

    Example:
        >>> GaussianBlur(23).to_settings()
        {'gaussian_blur': {'kernel_size': 23, 'sigma': [0.1, 2.0]}}
    """

    kernel_size: int | Sequence[int]
    sigma: float | Sequence[float] = (0.1, 2.0)


@dataclass(frozen=True)
class PillowGaussianBlur(Transform):
    """Blurs the picture as Pillow's `ImageFilter.GaussianBlur` does, with a probability.

    Args:
        radius: Least and greatest standard deviation in pixels, or the only one.
        p: The probability, from 0 to 1.

    Example:
        >>> PillowGaussianBlur((0.1, 2.0), p=0.1).to_settings()
        {'pillow_gaussian_blur': {'radius': [0.1, 2.0], 'p': 0.1}}
    """

    radius: float | Sequence[float] = (0.1, 2.0)
    p: float = 1.0


@dataclass(frozen=True)
class ThreeAugment(Transform):
    """Takes all colours away, inverts high values, or blurs: the 3-Augment of DeiT III and timm. Each is as likely.

    Args:
        threshold: The lowest value that is inverted.
        radius: Least and greatest standard deviation of Pillow's Gaussian blur, or the only one.

    Example:
        >>> ThreeAugment().to_settings()
        {'three_augment': {'threshold': 128, 'radius': [0.1, 2.0]}}
    """

    threshold: float = 128
    radius: float | Sequence[float] = (0.1, 2.0)


@dataclass(frozen=True)
class RandomErasing(Transform):
    """Fills a random rectangle, with a probability.

    It may stand behind `Normalize`, as in torchvision's recipes. `value` then counts in normalised values, rounded
    to what a pixel of 8 bits can have.

    Args:
        p: The probability, from 0 to 1.
        scale: Smallest and largest share of the picture's area, each from 0 to 1.
        ratio: Smallest and largest height / width of the rectangle.
        value: The value of all channels, or red, green and blue. Behind `Normalize` also "random", for noise.

    Example:
        >>> RandomErasing(0.1, value=(124, 116, 104)).to_settings()["random_erasing"]["value"]
        [124, 116, 104]
    """

    p: float = 0.5
    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    value: float | Sequence[float] | str = 0


@dataclass(frozen=True)
class Normalize(Transform):
    """Computes `(x / 255 - mean) / std` for each channel. Needs a float dtype.

    Args:
        mean: Red, green and blue, on a scale from 0 to 1, or one number for all channels. With alpha in the mode, alpha
            has a number as well.
        std: Red, green and blue, on the same scale, or one number.

    Example:
        >>> Normalize(mean=[0.5, 0.5, 0.5], std=[0.25, 0.25, 0.25]).to_settings()
        {'normalize': {'mean': [0.5, 0.5, 0.5], 'std': [0.25, 0.25, 0.25]}}
    """

    mean: float | Sequence[float]
    std: float | Sequence[float]
