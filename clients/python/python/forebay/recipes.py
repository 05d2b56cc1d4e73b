"""Recipes of published training code. Each function gives lists of steps, which you can print and change.

Example:
    >>> from forebay import recipes
    >>> steps = recipes.torchvision_train(176, auto_augment="ta_wide", random_erase_prob=0.1)
    >>> [type(step).__name__ for step in steps]
    ['RandomResizedCrop', 'RandomHorizontalFlip', 'TrivialAugmentWide', 'Normalize', 'RandomErasing']

All of them but YOLO's normalise, so a Loader needs a float `dtype`: `Loader(transform=steps, dtype="float32")`. If you
change nothing, give the Loader the recipe by name: `Loader(recipe={"name": "torchvision_train", "size": 176})`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forebay import transforms
from forebay._native import named_recipe
from forebay.transforms import Transform
from forebay.transforms.in_process import document
from forebay.transforms.transform import table_name

__all__ = [
    "MEAN",
    "STD",
    "dinov2",
    "dinov2_eval",
    "simclr",
    "simclr_eval",
    "timm_eval",
    "timm_train",
    "torchvision_eval",
    "torchvision_train",
    "yolo",
    "yolo_eval",
]

# Of ImageNet: red, green and blue, where 255 is 1.
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


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
        auto_augment: "ra" (RandAugment), "ta_wide" (TrivialAugmentWide), "augmix", or a policy of AutoAugment:
            "imagenet", "cifar10" or "svhn".
        ra_magnitude: Magnitude of RandAugment.
        augmix_severity: Severity of AugMix.
        random_erase_prob: How likely a rectangle is erased.

    Raises:
        ValueError: A value is wrong.
    """
    return _views("torchvision_train", locals())["images"]


def torchvision_eval(
    size: int = 224,
    resize_size: int = 256,
    *,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    interpolation: str = "bilinear",
) -> list[Transform]:
    """What torchvision's classification references evaluate with: its `ClassificationPresetEval`."""
    return _views("torchvision_eval", locals())["images"]


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

    Raises:
        ValueError: A value is wrong.
    """
    return _views("timm_train", locals())["images"]


def timm_eval(
    size: int = 224,
    crop_pct: float = 0.875,
    *,
    interpolation: str = "bicubic",
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
) -> list[Transform]:
    """What timm evaluates with: the middle, which is `crop_pct` of the resized picture's shorter side."""
    return _views("timm_eval", locals())["images"]


def dinov2(
    *,
    global_crops_size: int = 224,
    global_crops_scale: tuple[float, float] = (0.32, 1.0),
    local_crops_size: int = 96,
    local_crops_scale: tuple[float, float] = (0.05, 0.32),
    local_crops_number: int = 8,
    global_1_blur: float = 1.0,
    global_2_blur: float = 0.1,
    local_blur: float = 0.5,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
) -> dict[str, list[Transform]]:
    """The crops of DINOv2: `images` and `global_2` are global, and `local_0`, `local_1` and so on are local.

    A Loader reads and decodes each picture once for all of them:
    `Loader(transform=crops.pop("images"), views=crops, dtype="float32")`.

    Args:
        global_crops_size: Side of the global crops.
        global_crops_scale: Smallest and largest share of the picture's area in them.
        local_crops_size: Side of the local crops.
        local_crops_scale: Smallest and largest share of the picture's area in them.
        local_crops_number: Number of the local crops, at most 15.
        global_1_blur: How likely the first global crop is blurred. The defaults are the paper's. The authors' code
            blurs with 1 minus these probabilities.
        global_2_blur: How likely the second one is.
        local_blur: How likely a local crop is.
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.

    Raises:
        ValueError: A value is wrong.
    """
    return _views("dinov2", locals())


def dinov2_eval(
    size: int = 224, resize_size: int = 256, *, mean: Sequence[float] = MEAN, std: Sequence[float] = STD
) -> list[Transform]:
    """What DINOv2's linear classifiers are evaluated with: its `make_classification_eval_transform`."""
    return _views("dinov2_eval", locals())["images"]


def simclr(
    size: int = 224, *, strength: float = 1.0, mean: Sequence[float] = MEAN, std: Sequence[float] = STD
) -> dict[str, list[Transform]]:
    """The two views of SimCLR, `images` and `second`. The blur's kernel is a tenth of the side, made odd.

    Args:
        size: Side of the crop.
        strength: Factor of the colour jitter.
        mean: Red, green and blue, on a scale from 0 to 1. SimCLR itself does not normalise.
        std: Red, green and blue, on the same scale.

    Raises:
        ValueError: A value is wrong.
    """
    return _views("simclr", locals())


def simclr_eval(size: int = 224, *, mean: Sequence[float] = MEAN, std: Sequence[float] = STD) -> list[Transform]:
    """The middle of the picture, as in SimCLR's evaluation. SimCLR crops and then resizes, and this resizes first."""
    return _views("simclr_eval", locals())["images"]


def yolo(
    imgsz: int = 640,
    *,
    hsv_h: float = 0.015,
    hsv_s: float = 0.7,
    hsv_v: float = 0.4,
    translate: float = 0.1,
    scale: float = 0.5,
    fliplr: float = 0.5,
    mosaic: float = 1.0,
) -> list[Transform]:
    """What Ultralytics' YOLO trains with. Only a Loader can carry a mosaic out.

    Args:
        imgsz: Side of the result.
        hsv_h: How far the hue is turned at most, as a part of a full circle.
        hsv_s: How far the factor of the saturation may be from 1.
        hsv_v: How far the factor of the value may be from 1.
        translate: How far the picture may be from the middle, as a part of `imgsz`.
        scale: How far the picture may be smaller or larger than one that fits exactly.
        fliplr: How likely the picture is mirrored.
        mosaic: How likely the picture is in a mosaic with three others of the dataset. 0 reads no others.

    Raises:
        ValueError: A value is wrong.
    """
    return _views("yolo", locals())["images"]


def yolo_eval(imgsz: int = 640) -> list[Transform]:
    """What YOLO evaluates with: the whole picture, with a gray border."""
    return _views("yolo_eval", locals())["images"]


def _views(recipe: str, parameters: dict[str, Any]) -> dict[str, list[Transform]]:
    """The lists of a recipe, by view. A parameter that is None has the recipe's default."""
    lists = json.loads(named_recipe(recipe, document(parameters)))
    return {view: [_step(table) for table in tables] for view, tables in lists.items()}


# The steps by the keys of their tables.
_STEPS = {
    table_name(step): step
    for step in vars(transforms).values()
    if isinstance(step, type) and issubclass(step, Transform)
}


def _step(table: dict[str, dict[str, Any]]) -> Transform:
    """The step that has this table: the inverse of `Transform.to_settings`."""
    ((name, values),) = table.items()
    return _STEPS[name](**{key: _value(key, value) for key, value in values.items()})


def _value(key: str, value: Any) -> Any:  # noqa: ANN401 - a field's
    """Inner steps as a list, and numbers as a tuple."""
    if not isinstance(value, list):
        return value
    return [_step(table) for table in value] if key == "transforms" else tuple(value)
