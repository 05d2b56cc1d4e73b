"""Operations on a picture, with the names and parameters of `torchvision.transforms.v2.functional`.

Each takes a `uint8` array of height x width x 3, and gives a new one. `match` says whose results it gives: those of
torchvision for a Pillow image (`"pillow"`), or for a `uint8` tensor (`"torch"`). No daemon is needed. Other threads run
while a function works.

Example:
    >>> import numpy as np
    >>> from forebay.transforms import functional
    >>> functional.invert(np.full((2, 2, 3), 55, np.uint8))[0, 0].tolist()
    [200, 200, 200]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

from forebay._native import operate
from forebay.transforms.in_process import document, made_of, packed, pipeline

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hsv",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "affine",
    "affine_matrix",
    "autocontrast",
    "center_crop",
    "crop",
    "equalize",
    "erase",
    "gaussian_blur",
    "horizontal_flip",
    "invert",
    "letterbox",
    "pad",
    "perspective",
    "pillow_gaussian_blur",
    "posterize",
    "resize",
    "rgb_to_grayscale",
    "rotate",
    "solarize",
    "solarize_add",
    "vertical_flip",
]

Numbers = Union[float, Sequence[float]]


def adjust_brightness(image: np.ndarray, brightness_factor: float, *, match: str = "pillow") -> np.ndarray:
    """Multiplies all values by a factor. 0 gives black, and 1 changes nothing."""
    return _operate(image, match, "adjust_brightness", brightness_factor=brightness_factor)


def adjust_contrast(image: np.ndarray, contrast_factor: float, *, match: str = "pillow") -> np.ndarray:
    """Moves all values towards the picture's mean gray, or away from it. 0 gives gray, and 1 changes nothing."""
    return _operate(image, match, "adjust_contrast", contrast_factor=contrast_factor)


def adjust_saturation(image: np.ndarray, saturation_factor: float, *, match: str = "pillow") -> np.ndarray:
    """Moves each pixel towards its gray, or away from it. 0 takes all colours away, and 1 changes nothing."""
    return _operate(image, match, "adjust_saturation", saturation_factor=saturation_factor)


def adjust_hue(image: np.ndarray, hue_factor: float, *, match: str = "pillow") -> np.ndarray:
    """Turns all hues by a part of a full circle, from -0.5 to 0.5."""
    return _operate(image, match, "adjust_hue", hue_factor=hue_factor)


def adjust_hsv(image: np.ndarray, hue: float, saturation: float, value: float, *, match: str = "pillow") -> np.ndarray:
    """Turns all hues by a part of a full circle, from -1 to 1, and multiplies saturation and value by factors.

    Both values of `match` give the same: HSV of 8 bits as Pillow has it. torchvision does not have this function.
    """
    return _operate(image, match, "adjust_hsv", hue=hue, saturation=saturation, value=value)


def adjust_sharpness(image: np.ndarray, sharpness_factor: float, *, match: str = "pillow") -> np.ndarray:
    """Blurs the picture (0), leaves it as it is (1), or sharpens it (2)."""
    return _operate(image, match, "adjust_sharpness", sharpness_factor=sharpness_factor)


def rgb_to_grayscale(image: np.ndarray, num_output_channels: int = 3, *, match: str = "pillow") -> np.ndarray:
    """Takes all colours away. The result always has three channels; torchvision's default is one."""
    return _operate(image, match, "rgb_to_grayscale", num_output_channels=num_output_channels)


def solarize(image: np.ndarray, threshold: float, *, match: str = "pillow") -> np.ndarray:
    """Inverts all values from the threshold up."""
    return _operate(image, match, "solarize", threshold=threshold)


def posterize(image: np.ndarray, bits: int, *, match: str = "pillow") -> np.ndarray:
    """Keeps so many bits of every value, from 0 to 8, and sets the others to 0."""
    return _operate(image, match, "posterize", bits=bits)


def invert(image: np.ndarray, *, match: str = "pillow") -> np.ndarray:
    """Replaces all values by 255 - value."""
    return _operate(image, match, "invert")


def autocontrast(image: np.ndarray, *, match: str = "pillow") -> np.ndarray:
    """Stretches each channel, so that its lowest value becomes 0 and its highest 255."""
    return _operate(image, match, "autocontrast")


def equalize(image: np.ndarray, *, match: str = "pillow") -> np.ndarray:
    """Spreads the values of each channel evenly."""
    return _operate(image, match, "equalize")


def gaussian_blur(
    image: np.ndarray, kernel_size: int | Sequence[int], sigma: Numbers | None = None, *, match: str = "pillow"
) -> np.ndarray:
    """Blurs with a Gaussian kernel of this size (one odd number, or width and height) and standard deviation."""
    return _operate(image, match, "gaussian_blur", kernel_size=kernel_size, sigma=sigma)


def erase(image: np.ndarray, i: int, j: int, h: int, w: int, v: Numbers, *, match: str = "pillow") -> np.ndarray:
    """Fills the rectangle that begins at row i and column j, and has h rows and w columns. v is from 0 to 255."""
    return _operate(image, match, "erase", i=i, j=j, h=h, w=w, v=v)


def affine(
    image: np.ndarray,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
    interpolation: str = "nearest",
    fill: Numbers | None = None,
    center: Sequence[float] | None = None,
    *,
    match: str = "pillow",
) -> np.ndarray:
    """Turns the picture clockwise by degrees, shears it by degrees, scales it, and moves it by pixels.

    `interpolation` is "nearest", "bilinear" or, with `match="pillow"`, "bicubic". `fill` is the value of pixels from
    outside of the picture.
    """
    numbers = {"angle": angle, "translate": translate, "scale": scale, "shear": shear, "center": center}
    return _operate(image, match, "affine", interpolation=interpolation, fill=fill, **numbers)


def rotate(
    image: np.ndarray,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Numbers | None = None,
    *,
    match: str = "pillow",
) -> np.ndarray:
    """Turns the picture counterclockwise by degrees.

    With `expand`, the result is so large that it shows all of the picture. If not, it has the picture's size.
    """
    numbers = {"interpolation": interpolation, "center": center, "fill": fill}
    if expand:
        return _plan(image, match, "random_rotation", degrees=(angle, angle), expand=True, **numbers)
    return _operate(image, match, "rotate", angle=angle, **numbers)


def affine_matrix(
    image: np.ndarray,
    matrix: Sequence[float],
    interpolation: str = "nearest",
    fill: Numbers | None = None,
    *,
    match: str = "pillow",
) -> np.ndarray:
    """Pillow's `Image.transform` with AFFINE: pixel (x, y) shows (ax + by + c, dx + ey + f) of the picture."""
    return _operate(image, match, "affine_matrix", matrix=matrix, interpolation=interpolation, fill=fill)


def perspective(
    image: np.ndarray,
    startpoints: Sequence[Sequence[int]],
    endpoints: Sequence[Sequence[int]],
    interpolation: str = "bilinear",
    fill: Numbers | None = None,
    *,
    match: str = "pillow",
) -> np.ndarray:
    """Moves four points of the picture, (column, row) each, to four others. Lines stay lines."""
    points = {"startpoints": startpoints, "endpoints": endpoints}
    return _operate(image, match, "perspective", interpolation=interpolation, fill=fill, **points)


def pillow_gaussian_blur(image: np.ndarray, radius: Numbers, *, match: str = "pillow") -> np.ndarray:
    """Blurs as Pillow's `ImageFilter.GaussianBlur` does. Two radii are along the rows and down the columns."""
    return _operate(image, match, "pillow_gaussian_blur", radius=radius)


def solarize_add(image: np.ndarray, add: int, threshold: int = 128, *, match: str = "pillow") -> np.ndarray:
    """Adds a number to all values below the threshold. timm has this operation."""
    return _operate(image, match, "solarize_add", add=add, threshold=threshold)


def resize(
    image: np.ndarray, size: int | Sequence[int], interpolation: str = "bilinear", *, match: str = "pillow"
) -> np.ndarray:
    """Resizes to a length of the shorter side, or to (height, width). All filters but "nearest" antialias."""
    return _plan(image, match, "resize", size=size, interpolation=interpolation)


def crop(image: np.ndarray, top: int, left: int, height: int, width: int, *, match: str = "pillow") -> np.ndarray:
    """Cuts out a part. It is black where it reaches beyond the picture."""
    return _plan(image, match, "crop", top=top, left=left, height=height, width=width)


def center_crop(image: np.ndarray, output_size: int | Sequence[int], *, match: str = "pillow") -> np.ndarray:
    """Cuts out the middle. It is black where it reaches beyond the picture."""
    return _plan(image, match, "center_crop", size=output_size)


def pad(
    image: np.ndarray,
    padding: int | Sequence[int],
    fill: float | Sequence[float] = 0,
    padding_mode: str = "constant",
    *,
    match: str = "pillow",
) -> np.ndarray:
    """Adds a border: on all sides, (left and right, above and below), or (left, above, right, below).

    `padding_mode` is "constant" (with the value `fill`), "edge", "reflect" or "symmetric".
    """
    return _plan(image, match, "pad_by", padding=padding, fill=fill, padding_mode=padding_mode)


def letterbox(
    image: np.ndarray,
    size: int | Sequence[int],
    fill: int = 114,
    interpolation: str = "bilinear",
    *,
    match: str = "pillow",
) -> np.ndarray:
    """Resizes the picture as large as `size` allows, and adds a border around it. torchvision has no such function."""
    return _plan(image, match, "letterbox", size=size, fill=fill, interpolation=interpolation)


def horizontal_flip(image: np.ndarray, *, match: str = "pillow") -> np.ndarray:
    """Mirrors the picture left to right."""
    return _plan(image, match, "random_horizontal_flip", p=1.0)


def vertical_flip(image: np.ndarray, *, match: str = "pillow") -> np.ndarray:
    """Mirrors the picture top to bottom."""
    return _plan(image, match, "random_vertical_flip", p=1.0)


def _plan(image: np.ndarray, match: str, name: str, **parameters: Any) -> np.ndarray:  # noqa: ANN401 - numbers
    # No fill is something else than the default of a transform, which is black.
    given = {key: value for key, value in parameters.items() if value is not None or key == "fill"}
    return made_of(pipeline(document([{name: given}]), match), image, (0, 0, 0), name="image")


def _operate(image: np.ndarray, match: str, name: str, **parameters: Any) -> np.ndarray:  # noqa: ANN401 - numbers
    given = {key: value for key, value in parameters.items() if value is not None}
    return np.asarray(operate(*packed(image, "image"), document({name: given}), match))
