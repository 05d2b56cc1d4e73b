"""Recipes of published training code: each function gives a list of steps, which you can print and change.

Example:
    >>> from forebay import recipes
    >>> steps = recipes.torchvision_train(176, auto_augment="ta_wide", random_erase_prob=0.1)
    >>> [type(step).__name__ for step in steps]
    ['RandomResizedCrop', 'RandomHorizontalFlip', 'TrivialAugmentWide', 'Normalize', 'RandomErasing']

All of them normalise, so a Loader needs a float `dtype`: `Loader(transform=steps, dtype="float32")`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from forebay.transforms import (
    AugMix,
    AutoAugment,
    CenterCrop,
    ColorJitter,
    GaussianBlur,
    Normalize,
    RandAugment,
    RandomApply,
    RandomChoice,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomSolarize,
    Resize,
    ThreeAugment,
    TimmRandAugment,
    Transform,
    TrivialAugmentWide,
)

__all__ = ["MEAN", "STD", "dinov2", "simclr", "timm_eval", "timm_train", "torchvision_eval", "torchvision_train"]

# Of ImageNet: red, green and blue, where 255 is 1.
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

# The crops of DINOv2: side, scale, how likely the blur is, and how likely it is solarized.
_DINOV2 = {
    "global_1": (224, (0.32, 1.0), 1.0, 0.0),
    "global_2": (224, (0.32, 1.0), 0.1, 0.2),
    "local": (96, (0.05, 0.32), 0.5, 0.0),
}


def torchvision_train(
    size: int = 224,
    *,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    interpolation: str = "bilinear",
    hflip_prob: float = 0.5,
    auto_augment: str | None = None,
    ra_magnitude: int = 9,
    augmix_severity: int = 3,
    random_erase_prob: float = 0.0,
) -> list[Transform]:
    """What torchvision's classification references train with: its `ClassificationPresetTrain`.

    Args:
        size: Side of the crop.
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.
        interpolation: Filter of the crop and of what is moved.
        hflip_prob: How likely the picture is mirrored.
        auto_augment: "ra" (RandAugment), "ta_wide" (TrivialAugmentWide), "augmix", or a policy of AutoAugment.
        ra_magnitude: Magnitude of RandAugment.
        augmix_severity: Severity of AugMix.
        random_erase_prob: How likely a rectangle is erased.
    """
    steps: list[Transform] = [RandomResizedCrop(size, interpolation=interpolation)]
    if hflip_prob > 0:
        steps.append(RandomHorizontalFlip(hflip_prob))
    if auto_augment == "ra":
        steps.append(RandAugment(magnitude=ra_magnitude, interpolation=interpolation))
    elif auto_augment == "ta_wide":
        steps.append(TrivialAugmentWide(interpolation=interpolation))
    elif auto_augment == "augmix":
        steps.append(AugMix(severity=augmix_severity, interpolation=interpolation))
    elif auto_augment is not None:
        steps.append(AutoAugment(auto_augment, interpolation))
    steps.append(Normalize(tuple(mean), tuple(std)))
    if random_erase_prob > 0:
        steps.append(RandomErasing(random_erase_prob))
    return steps


def torchvision_eval(
    size: int = 224,
    resize_size: int = 256,
    *,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    interpolation: str = "bilinear",
) -> list[Transform]:
    """What torchvision's classification references evaluate with: its `ClassificationPresetEval`."""
    return [Resize(resize_size, interpolation), CenterCrop(size), Normalize(tuple(mean), tuple(std))]


def timm_train(
    size: int = 224,
    *,
    scale: tuple[float, float] = (0.08, 1.0),
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
    hflip: float = 0.5,
    color_jitter: float = 0.4,
    auto_augment: str | None = None,
    interpolation: str = "random",
    re_prob: float = 0.0,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
) -> list[Transform]:
    """What timm trains with: its `create_transform(is_training=True)`.

    Args:
        size: Side of the crop.
        scale: Smallest and largest share of the picture's area.
        ratio: Smallest and largest width / height of the crop.
        hflip: How likely the picture is mirrored.
        color_jitter: How far brightness, contrast and saturation change. Not used with an `auto_augment` other than
            "3a", as in timm.
        auto_augment: timm's text, such as "rand-m9-mstd0.5-inc1", or "3a" (3-Augment).
        interpolation: Filter. "random" is bilinear or bicubic by chance.
        re_prob: How likely a rectangle is filled with noise.
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.
    """
    filters = ["bilinear", "bicubic"] if interpolation == "random" else [interpolation]
    crops = [RandomResizedCrop(size, scale, ratio, each) for each in filters]
    steps: list[Transform] = [RandomChoice(crops) if len(crops) > 1 else crops[0]]
    if hflip > 0:
        steps.append(RandomHorizontalFlip(hflip))
    if auto_augment == "3a":
        steps.append(ThreeAugment())
    elif auto_augment is not None:
        fill = tuple(min(255, round(255 * each)) for each in mean)
        steps.append(TimmRandAugment(auto_augment, fill, None if interpolation == "random" else interpolation))
    if color_jitter > 0 and auto_augment in (None, "3a"):
        steps.append(ColorJitter(color_jitter, color_jitter, color_jitter))
    steps.append(Normalize(tuple(mean), tuple(std)))
    if re_prob > 0:
        steps.append(RandomErasing(re_prob, scale=(0.02, 1 / 3), ratio=(0.3, 10 / 3), value="random"))
    return steps


def timm_eval(
    size: int = 224,
    crop_pct: float = 0.875,
    *,
    interpolation: str = "bicubic",
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
) -> list[Transform]:
    """What timm evaluates with: the middle, which is `crop_pct` of the resized picture's shorter side."""
    return torchvision_eval(size, math.floor(size / crop_pct), mean=mean, std=std, interpolation=interpolation)


def simclr(
    size: int = 224, *, strength: float = 1.0, mean: Sequence[float] = MEAN, std: Sequence[float] = STD
) -> list[Transform]:
    """One view of SimCLR. The blur's kernel is a tenth of the side, made odd.

    Args:
        size: Side of the crop.
        strength: Factor of the colour jitter.
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.
    """
    jitter = ColorJitter(0.8 * strength, 0.8 * strength, 0.8 * strength, 0.2 * strength)
    return [
        RandomResizedCrop(size, interpolation="bicubic"),
        RandomHorizontalFlip(),
        RandomApply([jitter], p=0.8),
        RandomGrayscale(0.2),
        RandomApply([GaussianBlur(size // 10 | 1)], p=0.5),
        Normalize(tuple(mean), tuple(std)),
    ]


def dinov2(
    crop: str = "global_1", size: int | None = None, *, mean: Sequence[float] = MEAN, std: Sequence[float] = STD
) -> list[Transform]:
    """One of the crops of DINOv2.

    Args:
        crop: "global_1", "global_2" or "local".
        size: Side of the crop. None is 224 for the global crops, and 96 for the local ones.
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.

    Raises:
        ValueError: There is no such crop.
    """
    if crop not in _DINOV2:
        raise ValueError(f"crop: {crop!r} is not one of {', '.join(_DINOV2)}")
    side, scale, blurred, solarized = _DINOV2[crop]
    steps: list[Transform] = [
        RandomResizedCrop(size or side, scale, interpolation="bicubic"),
        RandomHorizontalFlip(),
        RandomApply([ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
        RandomGrayscale(0.2),
        RandomApply([GaussianBlur(9)], p=blurred),
    ]
    if solarized > 0:
        steps.append(RandomSolarize(128, solarized))
    return [*steps, Normalize(tuple(mean), tuple(std))]
