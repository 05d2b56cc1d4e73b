"""Writes the pictures of the tests with libjxl, and what libjxl makes of their first frames: `python make.py FOLDER`.

Needs Pillow, `imagecodecs` and `pillow-jxl-plugin`.
"""

import io
import sys
from pathlib import Path

import imagecodecs
import numpy as np
import pillow_jxl  # noqa: F401 - Pillow saves JPEG XL with it
from PIL import Image


def picture(width, height, channels=3, most=255):
    """Waves and some grain in each channel."""
    rows, columns = np.mgrid[0:height, 0:width].astype(float)
    wave = [
        np.sin(columns / (5 + n)) * np.cos(rows / (7 - n)) + np.sin((columns + rows) / (9 + 2 * n)) for n in range(4)
    ]
    values = (
        np.stack(wave[:channels], axis=2) / 4
        + 0.5
        + np.random.default_rng(7).normal(0, 0.02, (height, width, channels))
    )
    return (values.clip(0, 1) * most).astype("uint8" if most == 255 else "uint16")


def saved(image, **settings):
    """A picture as Pillow's plugin saves it."""
    file = io.BytesIO()
    image.save(file, "JXL", **settings)
    return file.getvalue()


turned = Image.Exif()
turned[0x112] = 6


encode = imagecodecs.jpegxl_encode
files = {
    "lossy-150x101": encode(picture(150, 101), distance=1.0),
    "lossless-19x17": encode(picture(19, 17), lossless=True),
    "alpha-41x37": encode(picture(41, 37, 4), distance=1.0),
    "gray-29x33": encode(picture(29, 33, 1)[..., 0], distance=1.0),
    "gray-alpha-22x20": saved(Image.fromarray(picture(22, 20, 2), "LA"), lossless=True),
    "deep-31x23": encode(picture(31, 23, 3, 65535), lossless=True),
    "deep-gray-11x9": encode(picture(11, 9, 1, 65535)[..., 0], lossless=True),
    "animated-40x30": encode(np.stack([picture(40, 30), picture(40, 30) // 2, picture(40, 30) // 3]), distance=2.0),
    "exif-60x40": saved(Image.fromarray(picture(60, 40)), exif=turned.tobytes(), quality=90, use_container=True),
}
# Of their memory alone: nothing is compared with their pixels.
coarse = np.kron(picture(14, 10, 4, 65535), np.ones((50, 50, 1), "uint16"))
opaque = (coarse[..., :3] >> 8).astype("uint8")
large = {
    "large-lossy-700x500": encode(opaque, distance=12.0),
    "large-lossless-700x500": encode(opaque, lossless=True),
    "large-deep-alpha-700x500": encode(coarse, lossless=True),
    "large-deep-alpha-lossy-700x500": encode(coarse, distance=12.0),
}
folder = Path(sys.argv[1])
for name, data in large.items():
    (folder / f"{name}.jxl").write_bytes(data)
    print(name, len(data))
for name, data in files.items():
    (folder / f"{name}.jxl").write_bytes(data)
    made = imagecodecs.jpegxl_decode(data)
    if name.startswith("animated"):
        made = made[0]
    if made.dtype == np.uint16:
        made = (made >> 8).astype("uint8")
    Image.fromarray(made).save(folder / f"{name}.png", optimize=True)
    print(name, len(data), made.shape)
