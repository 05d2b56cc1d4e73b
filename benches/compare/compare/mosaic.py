"""12-megapixel photographs, stitched from small ones: real detail at its real size, which an enlarged one has not."""

from __future__ import annotations

import random
from pathlib import Path

WIDTH, HEIGHT = 4000, 3000
COUNT = 32
QUALITY = 90


def stitched(files: list[str], folder: Path) -> list[str]:
    """Makes the pictures at the first call and gives their paths. 4:2:0, as cameras write them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number:03}.jpg" for number in range(COUNT)]
    draw = random.Random(0)
    for path in paths:
        order = draw.sample(files, len(files))
        if not path.exists():
            half = path.with_suffix(".half")
            sheet(order).save(half, "JPEG", quality=QUALITY, subsampling="4:2:0")
            half.replace(path)
    return [str(path) for path in paths]


def sheet(files: list[str]):  # noqa: ANN201 - Pillow is not imported before it is needed
    """Rows of photographs at their own size; what does not fit is cut off."""
    from PIL import Image

    made = Image.new("RGB", (WIDTH, HEIGHT))
    supply = iter(files * 2)
    top = 0
    while top < HEIGHT:
        left, height = 0, HEIGHT
        while left < WIDTH:
            with Image.open(next(supply)) as picture:
                made.paste(picture.convert("RGB"), (left, top))
                left, height = left + picture.width, min(height, picture.height)
        top += height
    return made
