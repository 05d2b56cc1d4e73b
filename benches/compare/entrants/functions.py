"""The functions of the works `python` and `python-after-crop`: pipelines of Albumentations, for all entrants."""

from __future__ import annotations

import albumentations
import numpy as np
from stopwatch import AREA, RATIO, SIZE

COLOURS = albumentations.Compose(
    [
        albumentations.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1, p=0.8),
        albumentations.CoarseDropout(p=0.5),
    ]
)
WHOLE = albumentations.Compose(
    [
        albumentations.RandomResizedCrop((SIZE, SIZE), scale=AREA, ratio=RATIO),
        albumentations.HorizontalFlip(),
        *COLOURS.transforms,
    ]
)
PIPELINES = {"python": WHOLE, "python-after-crop": COLOURS}


def python(picture: np.ndarray, _sample: object = None) -> np.ndarray:
    """A crop of a whole picture, with other colours and holes."""
    return WHOLE(image=picture)["image"]


def python_after_crop(picture: np.ndarray, _sample: object = None) -> np.ndarray:
    """A crop with other colours and holes."""
    return COLOURS(image=picture)["image"]
