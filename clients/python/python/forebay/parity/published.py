"""The recipes of published training code, compared with the libraries that this code uses.

Both sides stop before a normalisation, and before what follows it: noise and erased rectangles.
"""

from __future__ import annotations

import itertools
import json
from typing import Any, NamedTuple

from forebay._native import named_recipe
from forebay.parity.versions import Versions

__all__ = ["PUBLISHERS", "LibraryMissing", "PublishedRecipe", "recipes"]

PUBLISHERS = ("torchvision", "timm", "dinov2", "yolo")

# Rows of a publisher: what it is called, the recipe, its parameters and the view.
_ROWS: dict[str, list[tuple[str, str, dict[str, Any], str]]] = {
    "torchvision": [
        ("RandAugment", "torchvision_train", {"auto_augment": "ra"}, "images"),
        ("TrivialAugmentWide", "torchvision_train", {"auto_augment": "ta_wide"}, "images"),
        ("AutoAugment of ImageNet", "torchvision_train", {"auto_augment": "imagenet"}, "images"),
        ("AugMix", "torchvision_train", {"auto_augment": "augmix"}, "images"),
        ("", "torchvision_eval", {}, "images"),
    ],
    "timm": [
        ("colour jitter", "timm_train", {}, "images"),
        ("rand-m9-mstd0.5-inc1", "timm_train", {"auto_augment": "rand-m9-mstd0.5-inc1"}, "images"),
        ("3-Augment", "timm_train", {"auto_augment": "3a"}, "images"),
        ("", "timm_eval", {}, "images"),
    ],
    "dinov2": [
        ("first global crop", "dinov2", {}, "images"),
        ("second global crop", "dinov2", {}, "global_2"),
        ("a local crop", "dinov2", {}, "local_0"),
        ("", "dinov2_eval", {}, "images"),
    ],
    # A picture is compared alone, and not in a mosaic.
    "yolo": [("", "yolo", {"mosaic": 0}, "images"), ("", "yolo_eval", {}, "images")],
}

# The class of torchvision that draws a policy's operations, and in how many bins it puts magnitudes.
_CLASSES = {
    "ra": {"class": "RandAugment", "bins": 31},
    "ta_wide": {"class": "TrivialAugmentWide", "bins": 31},
    "imagenet": {"class": "AutoAugment", "bins": 10},
    "augmix": {"class": "AugMix", "bins": 10},
}


class LibraryMissing(Exception):  # noqa: N818 - it says what is missing
    """A library that a recipe is compared with is not installed."""


class PublishedRecipe(NamedTuple):
    """A recipe, and whom it is compared with.

    Attributes:
        name: What it is called in tables.
        steps: The steps before the normalisation, as tables.
        resize: Whose resizes it is compared with: "pillow", or "opencv" without antialiasing, as YOLO resizes.
        magnitudes: The `class` of torchvision that computes the magnitudes of operations here, and its `bins`. Only
            which ones were drawn is ours then. None: the magnitudes are ours.
    """

    name: str
    steps: list[dict[str, Any]]
    resize: str = "pillow"
    magnitudes: dict[str, Any] | None = None


def recipes(publisher: str, versions: Versions) -> list[PublishedRecipe]:
    """What is compared with these libraries.

    Raises:
        LibraryMissing: torchvision is not installed, and the publisher uses it.
    """
    rows = _ROWS[publisher]
    if publisher == "yolo":
        libraries = [("Pillow's", "pillow"), *([("OpenCV's", "opencv")] if versions.opencv else [])]
        return [
            PublishedRecipe(f"recipe {recipe}, with {whose} resize", _steps(recipe, given, view), resize)
            for whose, resize in libraries
            for _, recipe, given, view in rows
        ]
    if versions.torchvision is None:
        raise LibraryMissing(
            f"--recipe {publisher} compares with torchvision, which this Python does not have. Install it with "
            "pip install torchvision."
        )
    found = []
    for what, recipe, given, view in rows:
        magnitudes = _CLASSES.get(given.get("auto_augment", "")) if publisher == "torchvision" else None
        name = f"recipe {recipe}, {what}" if what else f"recipe {recipe}"
        found.append(PublishedRecipe(name, _steps(recipe, given, view), magnitudes=magnitudes))
    return found


def _steps(recipe: str, given: dict[str, Any], view: str) -> list[dict[str, Any]]:
    """The steps of a view before the normalisation."""
    steps = json.loads(named_recipe(recipe, json.dumps(given)))[view]
    return list(itertools.takewhile(lambda step: "normalize" not in step, steps))
