"""Pillow: the calls that torchvision makes for its images. It, or Pillow-SIMD, is a decoder too."""

from __future__ import annotations

import io

import timing
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

PICTURE = Image.fromarray(timing.picture())
BILINEAR = Image.Resampling.BILINEAR
# 10 degrees, a scale of 1.1 and a shear of 5 degrees about the middle, as torchvision passes them to Pillow.
AFFINE = (0.8953, 0.1579, -5.96, -0.1579, 0.9591, 22.27)
PERSPECTIVE = (1.15, -0.07, -22.0, 0.03, 1.08, -12.0, 0.0004, 0.0001)


def hue(picture: Image.Image = PICTURE) -> Image.Image:
    """As torchvision turns the hue of an image."""
    turned, saturation, value = picture.convert("HSV").split()
    turned = turned.point(lambda number: (number + 25) % 256)
    return Image.merge("HSV", (turned, saturation, value)).convert("RGB")


def jitter() -> Image.Image:
    """The four steps of a colour jitter."""
    changed = ImageEnhance.Contrast(ImageEnhance.Brightness(PICTURE).enhance(1.3)).enhance(1.3)
    return hue(ImageEnhance.Color(changed).enhance(1.3))


def erase() -> Image.Image:
    """A copy with a black rectangle."""
    row, column, height, width = timing.ERASED
    changed = PICTURE.copy()
    changed.paste((0, 0, 0), (column, row, column + width, row + height))
    return changed


def decode(content: bytes) -> Image.Image:
    """A whole picture."""
    return Image.open(io.BytesIO(content)).convert("RGB")


timing.run(
    {
        "brightness": lambda: ImageEnhance.Brightness(PICTURE).enhance(1.3),
        "contrast": lambda: ImageEnhance.Contrast(PICTURE).enhance(1.3),
        "saturation": lambda: ImageEnhance.Color(PICTURE).enhance(1.3),
        "hue": hue,
        "color jitter": jitter,
        "gray": lambda: PICTURE.convert("L").convert("RGB"),
        "solarize": lambda: ImageOps.solarize(PICTURE, 128),
        "posterize": lambda: ImageOps.posterize(PICTURE, 4),
        "invert": lambda: ImageOps.invert(PICTURE),
        "autocontrast": lambda: ImageOps.autocontrast(PICTURE),
        "equalize": lambda: ImageOps.equalize(PICTURE),
        "sharpness": lambda: ImageEnhance.Sharpness(PICTURE).enhance(1.7),
        "gaussian blur": lambda: PICTURE.filter(ImageFilter.GaussianBlur(1.0)),
        "affine": lambda: PICTURE.transform(PICTURE.size, Image.Transform.AFFINE, AFFINE, BILINEAR),
        "rotate": lambda: PICTURE.rotate(30, BILINEAR),
        "perspective": lambda: PICTURE.transform(PICTURE.size, Image.Transform.PERSPECTIVE, PERSPECTIVE, BILINEAR),
        "erase": erase,
        "flip": lambda: PICTURE.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        "resize": lambda: PICTURE.resize((128, 128), BILINEAR),
        "pad": lambda: ImageOps.expand(PICTURE, 16),
    },
    decode,
)
