"""Writes the pictures of the tests: run as `python make.py FOLDER`. Needs Pillow and `imagecodecs`.

`reference.c` then prints the table of pictures.rs.
"""

import io
import sys
from pathlib import Path

import imagecodecs
import numpy as np
from PIL import Image


def picture(width, height, channels=3, most=255):
    """Waves, an edge and some grain in each channel."""
    rows, columns = np.mgrid[0:height, 0:width].astype(float)
    waves = [
        np.sin(columns / (5 + n)) * np.cos(rows / (7 - n)) + np.sign(np.sin((columns + rows) / (9 + 2 * n))) * 0.8
        for n in range(channels)
    ]
    values = np.stack(waves, axis=2) / 3.6 + 0.5
    values += np.random.default_rng(7).normal(0, 0.03, (height, width, channels))
    return (values.clip(0, 1) * most).astype("uint8" if most == 255 else "uint16")


def saved(image, **settings):
    """A picture as Pillow saves it."""
    file = io.BytesIO()
    image.save(file, "AVIF", speed=6, **settings)
    return file.getvalue()


def encoded(values, bits, form, **settings):
    """Values of more than 8 bits."""
    return imagecodecs.avif_encode(values, 70, bitspersample=bits, pixelformat=form, speed=6, **settings)


def colours(data, primaries, transfer, matrix, is_full_range):
    """The same data, with other names of colours in the container."""
    at = data.index(b"colrnclx") + 8
    named = b"".join(number.to_bytes(2, "big") for number in (primaries, transfer, matrix))
    return data[:at] + named + bytes([is_full_range << 7]) + data[at + 7 :]


def without(data, *boxes):
    """The same data, with boxes that no reader knows in place of these."""
    for name in boxes:
        assert name in data
        data = data.replace(name, b"free")
    return data


forms = {"420": "4:2:0", "422": "4:2:2", "444": "4:4:4", "gray": "4:0:0"}
files = {}
for name, subsampling in forms.items():
    for size in ((19, 17), (150, 101)):
        for bounds in ("full", "limited"):
            rgb = Image.fromarray(picture(*size))
            whole = saved(rgb, subsampling=subsampling, range=bounds, quality=60)
            files[f"{name}-{bounds}-{size[0]}x{size[1]}"] = whole
for name, form in (("420", "420"), ("422", "422"), ("444", "444")):
    for bits in (10, 12):
        files[f"{name}-{bits}-bits-31x23"] = encoded(picture(31, 23, 3, (1 << bits) - 1), bits, form)
files["gray-10-bits-31x23"] = encoded(picture(31, 23, 1, 1023)[..., 0], 10, "400")
for name in ("420", "444", "gray"):
    clear = picture(22, 20, 4)
    # All of it, none of it, and between.
    clear[:6, :, 3], clear[6:12, :, 3] = 255, 0
    for multiplied in (False, True):
        kind = "multiplied" if multiplied else "alpha"
        files[f"{kind}-{name}-22x20"] = saved(
            Image.fromarray(clear), subsampling=forms[name], alpha_premultiplied=multiplied, quality=80
        )
files["alpha-10-bits-22x20"] = encoded(picture(22, 20, 4, 1023), 10, "444")
base = files["444-full-19x17"]
for number, matrix in enumerate((0, 1, 4, 7, 8, 9, 12)):
    files[f"matrix-{matrix}-19x17"] = colours(base, (1, 9)[number % 2], 13, matrix, True)
files["primaries-9-19x17"] = colours(files["420-limited-19x17"], 9, 16, 12, False)
files["no-colours-19x17"] = without(files["420-limited-19x17"], b"colr")
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x112] = orientation
    files[f"orientation-{orientation}-12x7"] = saved(
        Image.fromarray(picture(12, 7)), exif=exif, quality=40, subsampling="4:2:0"
    )
frames = [Image.fromarray(picture(24, 16) // n) for n in (1, 2, 3)]
files["sequence-24x16"] = saved(frames[0], save_all=True, append_images=frames[1:], quality=40)
folder = Path(sys.argv[1])
for name, data in files.items():
    (folder / f"{name}.avif").write_bytes(data)
