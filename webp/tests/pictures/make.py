"""Writes the pictures of the tests, with Pillow, and what Pillow makes of them: run as `python make.py FOLDER`."""

import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image


def picture(width, height, alpha=False):
    """Waves, an edge and some grain."""
    rows, columns = np.mgrid[0:height, 0:width].astype(float)
    red = 128 + 90 * np.sin(columns / 7) + 30 * np.cos(rows / 3)
    green = 255 * columns / width * (rows < height * 0.6) + 40
    blue = 200 * ((columns + rows) % 23 < 11)
    rgb = np.stack([red, green, blue], axis=2) + np.random.default_rng(7).normal(0, 9, (height, width, 3))
    made = Image.fromarray(rgb.clip(0, 255).astype("uint8"))
    if alpha:
        plane = 255 - 200 * ((rows // 5 + columns // 6) % 2) * (columns > width / 3)
        made.putalpha(Image.fromarray(plane.astype("uint8")))
    return made


def saved(image, **settings):
    """A picture as WebP."""
    file = io.BytesIO()
    image.save(file, "WEBP", **settings)
    return file.getvalue()


def chunk(name, data):
    """A chunk, with its byte of padding."""
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def three(number):
    """A number of three bytes."""
    return struct.pack("<I", number)[:3]


def animated(still, canvas, at, size, flags):
    """An animation of two frames on a canvas; the first one is this still picture, the second the same."""
    body = still[12:]
    if body[:4] == b"VP8X":
        body = body[18:]
    frame = b"".join(three(n) for n in (at[0] // 2, at[1] // 2, size[0] - 1, size[1] - 1, 100)) + b"\0" + body
    head = bytes([flags, 0, 0, 0]) + three(canvas[0] - 1) + three(canvas[1] - 1)
    inside = chunk(b"VP8X", head) + chunk(b"ANIM", b"\x10\x20\x30\xff\0\0") + chunk(b"ANMF", frame) * 2
    return b"RIFF" + struct.pack("<I", len(inside) + 4) + b"WEBP" + inside


folder = Path(sys.argv[1])
files = {}
for width, height in ((19, 17), (150, 101)):
    rgb, rgba = picture(width, height), picture(width, height, alpha=True)
    size = f"{width}x{height}"
    files[f"lossy-{size}"] = saved(rgb, quality=60, method=4)
    files[f"filtered-{size}"] = saved(rgb, quality=5, method=6)
    files[f"lossy-alpha-{size}"] = saved(rgba, quality=50)
    # Few values, so that the files are small.
    rgb, rgba = (image.point(lambda value: value // 32 * 32) for image in (rgb, rgba))
    files[f"lossless-{size}"] = saved(rgb, lossless=True)
    files[f"lossless-alpha-{size}"] = saved(rgba, lossless=True, exact=True)
small, clear = picture(24, 16), picture(24, 16, alpha=True)
files["animated"] = animated(saved(small, quality=60), (40, 30), (6, 4), (24, 16), 2)
files["animated-alpha"] = animated(saved(clear, quality=60), (40, 30), (6, 4), (24, 16), 2 | 16)
for name, data in files.items():
    (folder / f"{name}.webp").write_bytes(data)
    made = Image.open(io.BytesIO(data))
    print(f'    ("{name}", {made.size}, Mode::{made.mode.title()}, 0x{zlib.crc32(made.tobytes()):08x}),', len(data))
