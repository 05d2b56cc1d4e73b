"""Pictures without a daemon: decode them, read their headers, resize them.

The functions release the interpreter's lock, so threads decode at the same time. They start no thread and keep no lock,
so they work in forked processes. Neither PyTorch nor CUDA is needed.

Example:
    >>> import forebay.image                                                    # doctest: +SKIP
    >>> forebay.image.probe("cat.jpg")                                          # doctest: +SKIP
    Probe(format='jpeg', width=500, height=375)
    >>> forebay.image.decode("cat.jpg", region=(100, 50, 300, 250), size=224)   # doctest: +SKIP
"""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np

from forebay._native import probed
from forebay.errors import PictureError
from forebay.transforms import functional
from forebay.transforms.in_process import BYTE_LIMIT, PIXEL_LIMIT, Picture, document, made_of, pipeline

__all__ = ["Probe", "decode", "probe", "read", "resize"]

Source = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]"]
Size = Union[int, Sequence[int]]


@dataclass(frozen=True)
class Probe:
    """What a picture's header says.

    Attributes:
        format: "jpeg", "png", "webp", "bmp", "gif", "tiff", "pnm", "jxl" or "avif". The content decides, never the
            name.
        width: Width in pixels, after the EXIF orientation.
        height: Height in pixels, after the EXIF orientation.
    """

    format: str
    width: int
    height: int


def decode(
    picture: Source,
    region: Sequence[int] | None = None,
    size: Size | None = None,
    *,
    interpolation: str = "bilinear",
    match: str = "pillow",
    adjust_orientation: bool = True,
    fill: Sequence[int] | str = (0, 0, 0),
    mode: str = "RGB",
    pixel_limit: int = PIXEL_LIMIT,
    byte_limit: int = BYTE_LIMIT,
) -> np.ndarray:
    """Decodes a picture as a `uint8` array of height x width x channels, of which RGB has 3.

    Of a JPEG, a region costs little more than its own pixels. Its pixels are those that the whole picture has there.

    Args:
        picture: A path, or the bytes of a file.
        region: The part to decode, as (left, top, right, bottom) in pixels. Beyond the picture all values are 0.
        size: What the region is resized to: the length of its shorter side, or (height, width).
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3".
        match: Whose resize: "pillow" or "torch".
        adjust_orientation: Whether the picture is turned as its EXIF orientation says. `region` counts its pixels then.
        fill: Red, green and blue behind transparent pixels; or "drop", which leaves alpha out as Pillow's
            `convert("RGB")` does it. With alpha in the mode it has no effect.
        mode: What a pixel has: "RGB", "L", "LA" or "RGBA", as Pillow's `convert` makes it. "L" has 1 channel, "LA" 2.
        pixel_limit: Pixels of the largest picture that is decoded.
        byte_limit: Bytes of the largest file that is decoded.

    Raises:
        PictureError: The picture cannot be decoded, or is beyond a limit. The message names the file.
        OSError: The file cannot be read.
        ValueError: An argument is wrong.
    """
    for limit, value in (("pixel_limit", pixel_limit), ("byte_limit", byte_limit)):
        if not 0 <= value < 1 << 64:
            raise ValueError(f"{limit}: give a number from 0 to 2^64 - 1")
    steps = []
    if region is not None:
        left, top, right, bottom = region
        if right <= left or bottom <= top:
            raise ValueError(f"region: {tuple(region)} has no pixels; give (left, top, right, bottom)")
        steps.append({"crop": {"top": top, "left": left, "height": bottom - top, "width": right - left}})
    if size is not None:
        steps.append({"resize": {"size": size, "interpolation": interpolation}})
    given, name = read(picture, byte_limit)
    wanted = pipeline(document(steps), match, adjust_orientation, _colour(fill), None, mode)
    return made_of(wanted, given, (0, 0, 0), (pixel_limit, byte_limit), name)


def probe(picture: Source) -> Probe:
    """Format and size of a picture. Only the header is looked at.

    Args:
        picture: A path, or the bytes of a file.

    Raises:
        PictureError: The content is no picture, or its header is damaged. The message names the file.
        OSError: The file cannot be read.
    """
    return Probe(*probed(*read(picture, BYTE_LIMIT)))


def resize(image: Picture, size: Size, interpolation: str = "bilinear", *, match: str = "pillow") -> np.ndarray:
    """Resizes a `uint8` array of height x width x 3, or a tensor of PyTorch of 3 x height x width.

    Args:
        image: The picture. The bytes of a file are decoded.
        size: Length of the shorter side, which keeps the aspect ratio; or (height, width).
        interpolation: Filter: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest" antialias.
        match: Whose pixels: "pillow" or "torch", which has "bilinear" and "bicubic".

    Raises:
        ValueError: An argument is wrong.
    """
    return functional.resize(image, size, interpolation, match=match)


def read(picture: Source, byte_limit: int) -> tuple[bytes, str]:
    """The bytes of a file that is given by its path or by its bytes, and its name for errors.

    Raises:
        PictureError: It is not a file, or larger than the limit.
        OSError: The file cannot be read.
    """
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return bytes(picture), "picture"
    path = os.fsencode(picture)
    name = path.decode(errors="replace")
    # A pipe without a writer would never open.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PictureError(f"{name}: This is not a file. Give the path of a picture.")
        if status.st_size > byte_limit:
            raise PictureError(
                f"{name}: The file has {status.st_size} bytes, above the limit of {byte_limit} bytes. Set byte_limit "
                "to change the limit."
            )
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.readall(), name
    finally:
        os.close(descriptor)


def _colour(fill: Sequence[int] | str) -> tuple[int, int, int] | None:
    if fill == "drop":
        return None
    try:
        red, green, blue = map(operator.index, fill)
    except (TypeError, ValueError):
        red = green = blue = -1
    if not all(0 <= value <= 255 for value in (red, green, blue)):
        raise ValueError(f'fill: {fill!r} is not red, green and blue from 0 to 255, nor "drop"')
    return red, green, blue
