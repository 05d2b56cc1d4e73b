"""Makes a folder of small pictures in every format and colour form, for `make parity` beside real photographs.

formats.py FOLDER: Pillow writes them all, from one generated picture; the same bytes with the same Pillow.
It has no JPEG XL.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageFilter

SIZE = (301, 227)
ORIENTATION = 0x0112

Form = tuple[str, Image.Image, dict[str, Any]]


def picture() -> Image.Image:
    """Soft colours with a little noise: edges, gradients, and no two channels alike."""
    draw = random.Random(0)
    coarse = Image.frombytes("RGB", (13, 11), draw.randbytes(13 * 11 * 3))
    noise = Image.frombytes("RGB", SIZE, draw.randbytes(SIZE[0] * SIZE[1] * 3)).filter(ImageFilter.BoxBlur(1))
    return Image.blend(coarse.resize(SIZE, Image.Resampling.BICUBIC), noise, 0.2)


def sixteen_bits(gray: Image.Image) -> Image.Image:
    """A gray picture whose low bytes are not its high ones."""
    values = b"".join((value * 256 + 77).to_bytes(2, "little") for value in gray.tobytes())
    return Image.frombytes("I;16", gray.size, values)


def forms() -> Iterator[Form]:
    """File name, picture, and how to save it."""
    rgb = picture()
    gray = rgb.convert("L")
    alpha = Image.linear_gradient("L").resize(SIZE)
    rgba, la = rgb.copy(), gray.convert("LA")
    rgba.putalpha(alpha)
    la.putalpha(alpha)
    palette = rgb.quantize(100)
    modes = {"rgb": rgb, "gray": gray, "rgba": rgba, "la": la, "palette": palette, "one-bit": gray.convert("1")}
    for name, made in modes.items():
        yield f"{name}.png", made, {}
    yield "palette-transparent.png", palette, {"transparency": 3}
    yield "gray-16.png", sixteen_bits(gray), {}
    yield "rgb.webp", rgb, {"quality": 90}
    yield "rgb-lossless.webp", rgb, {"lossless": True}
    yield "rgba.webp", rgba, {"lossless": True, "exact": True}
    for name in ("rgb", "gray", "palette", "one-bit"):
        yield f"{name}.bmp", modes[name], {}
    yield "palette.gif", palette, {}
    yield "palette-transparent.gif", palette, {"transparency": 3}
    for name in ("rgb", "gray", "rgba", "palette", "one-bit"):
        yield f"{name}.tiff", modes[name], {}
        yield f"{name}-lzw.tiff", modes[name], {"compression": "tiff_lzw"}
    yield "gray-16.tiff", sixteen_bits(gray), {}
    yield "cmyk.tiff", rgb.convert("CMYK"), {}
    yield "rgb.ppm", rgb, {}
    yield "gray.pgm", gray, {}
    yield "one-bit.pbm", modes["one-bit"], {}
    yield "cmyk.jpg", rgb.convert("CMYK"), {"quality": 90}
    yield "rgb-coded.jpg", rgb, {"quality": 90, "keep_rgb": True}
    yield "gray.avif", gray, {"subsampling": "4:0:0", "speed": 8}
    yield "rgb.avif", rgb, {"quality": 90, "speed": 8}
    yield "rgb-444.avif", rgb, {"quality": 90, "subsampling": "4:4:4", "speed": 8}
    yield "rgba.avif", rgba, {"quality": 90, "speed": 8}
    for number in range(1, 9):
        exif = Image.Exif()
        exif[ORIENTATION] = number
        yield f"orientation-{number}.jpg", rgb, {"quality": 90, "exif": exif}
        yield f"orientation-{number}.png", rgb, {"exif": exif}


def main(folder: Path) -> None:
    """Writes them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made, how in forms():
        made.save(folder / name, **how)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
