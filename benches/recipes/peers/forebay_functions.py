"""This project: `forebay.transforms.functional` and `forebay.image`."""

from __future__ import annotations

import timing
from forebay import image
from forebay.transforms import functional as f

PICTURE = timing.picture()


def jitter() -> object:
    """The four steps of a colour jitter."""
    changed = f.adjust_contrast(f.adjust_brightness(PICTURE, 1.3), 1.3)
    return f.adjust_hue(f.adjust_saturation(changed, 1.3), 0.1)


timing.run(
    {
        "brightness": lambda: f.adjust_brightness(PICTURE, 1.3),
        "contrast": lambda: f.adjust_contrast(PICTURE, 1.3),
        "saturation": lambda: f.adjust_saturation(PICTURE, 1.3),
        "hue": lambda: f.adjust_hue(PICTURE, 0.1),
        "color jitter": jitter,
        "gray": lambda: f.rgb_to_grayscale(PICTURE),
        "solarize": lambda: f.solarize(PICTURE, 128),
        "posterize": lambda: f.posterize(PICTURE, 4),
        "invert": lambda: f.invert(PICTURE),
        "autocontrast": lambda: f.autocontrast(PICTURE),
        "equalize": lambda: f.equalize(PICTURE),
        "sharpness": lambda: f.adjust_sharpness(PICTURE, 1.7),
        "gaussian blur": lambda: f.gaussian_blur(PICTURE, 23, 1.0),
        "affine": lambda: f.affine(PICTURE, 10, (0, 0), 1.1, (5, 0), "bilinear"),
        "rotate": lambda: f.rotate(PICTURE, 30, "bilinear"),
        "perspective": lambda: f.perspective(PICTURE, timing.CORNERS, timing.MOVED, "bilinear"),
        "erase": lambda: f.erase(PICTURE, *timing.ERASED, 0),
        "flip": lambda: f.horizontal_flip(PICTURE),
        "resize": lambda: f.resize(PICTURE, (128, 128)),
        "pad": lambda: f.pad(PICTURE, 16),
    },
    image.decode,
)
