"""AlbumentationsX: its transforms with one value to draw, as its documentation calls them. Functions are private."""

from __future__ import annotations

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"

from typing import Any, Callable

import albumentations
import cv2
import timing

cv2.setNumThreads(0)
PICTURE = timing.picture()
ONE = (1.0, 1.0)


def call(name: str, **parameters: Any) -> Callable[[], Any]:  # noqa: ANN401 - passed on
    """A call of a transform that is always carried out."""
    transform = getattr(albumentations, name)(**parameters, p=1.0)
    return lambda: transform(image=PICTURE)["image"]


def jitter(**changed: tuple[float, float]) -> Callable[[], Any]:
    """A colour jitter of these factors."""
    factors = {"brightness_range": ONE, "contrast_range": ONE, "saturation_range": ONE, "hue_range": (0.0, 0.0)}
    return call("ColorJitter", **{**factors, **changed})


FACTOR = (1.3, 1.3)
row, column, height, width = timing.ERASED

timing.run(
    {
        "brightness": jitter(brightness_range=FACTOR),
        "contrast": jitter(contrast_range=FACTOR),
        "saturation": jitter(saturation_range=FACTOR),
        "hue": jitter(hue_range=(0.1, 0.1)),
        "color jitter": jitter(
            brightness_range=FACTOR, contrast_range=FACTOR, saturation_range=FACTOR, hue_range=(0.1, 0.1)
        ),
        "gray": call("ToGray"),
        "solarize": call("Solarize", threshold_range=(0.5, 0.5)),
        "posterize": call("Posterize", num_bits=(4, 4)),
        "invert": call("InvertImg"),
        "autocontrast": call("AutoContrast", method="pil"),
        "equalize": call("Equalize", mode="pil"),
        "sharpness": call("Sharpen", alpha_range=(0.5, 0.5), lightness_range=ONE, kernel_size=3),
        "gaussian blur": call("GaussianBlur", blur_range=(23, 23), sigma_range=ONE),
        "affine": call("Affine", rotate=(10, 10), scale=(1.1, 1.1), shear=(5, 5)),
        "rotate": call("Rotate", angle_range=(30, 30)),
        "perspective": call("Perspective", scale=(0.1, 0.1)),
        "erase": call(
            "CoarseDropout",
            num_holes_range=(1, 1),
            hole_height_range=(height, height),
            hole_width_range=(width, width),
        ),
        "flip": call("HorizontalFlip"),
        "resize": call("Resize", height=128, width=128, interpolation=cv2.INTER_AREA),
        "pad": call("Pad", padding=16),
    }
)
