"""Pillow's pixels, for tests/pillow.rs to compare with.

pillow.py TASK LIST OUT: LIST names one picture per line. OUT gets, per picture, width and height (little-endian, 4
bytes each; zeros where Pillow fails) and packed RGB. TASK is `whole`, `eval`, or `FILTER HEIGHT WIDTH` joined by
colons.
"""

import struct
import sys

from PIL import Image, ImageOps

Image.MAX_IMAGE_PIXELS = None


def evaluation(picture):
    """Resize(256) and CenterCrop(224) of torchvision."""
    width, height = picture.size
    if width <= height:
        size = (256, int(256 * height / width))
    else:
        size = (int(256 * width / height), 256)
    picture = picture.resize(size, Image.Resampling.BILINEAR)
    left = round((size[0] - 224) / 2.0)
    top = round((size[1] - 224) / 2.0)
    return picture.crop((left, top, left + 224, top + 224))


def drafted(picture, height, width):
    """What Image.thumbnail does with reducing_gap=2.0, to a size that is given."""
    draft = picture.draft(None, (2 * width, 2 * height))
    box = draft[1] if draft else None
    return picture.convert("RGB").resize((width, height), Image.Resampling.BILINEAR, box=box)


def carry_out(task, picture):
    if task.startswith("draft:"):
        _, height, width = task.split(":")
        return drafted(picture, int(height), int(width))
    if task == "stored":
        return picture.convert("RGB")
    picture = ImageOps.exif_transpose(picture).convert("RGB")
    if task == "whole":
        return picture
    if task == "eval":
        return evaluation(picture)
    name, height, width = task.split(":")
    return picture.resize((int(width), int(height)), Image.Resampling[name.upper()])


def main(task, names, out):
    with open(names, encoding="utf-8") as lines, open(out, "wb") as out:
        for name in lines.read().splitlines():
            try:
                picture = carry_out(task, Image.open(name))
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr)
                out.write(struct.pack("<II", 0, 0))
                continue
            out.write(struct.pack("<II", *picture.size))
            out.write(picture.tobytes())


main(*sys.argv[1:])
