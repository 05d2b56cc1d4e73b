"""A dataset with masks of every type, whose numbers and pixels say where they were."""

from pathlib import Path

import forebay
import numpy as np
from png import write_png

HEIGHT, WIDTH = 30, 40
# Where the masks of each type are.
MASKS = {"seg": "../SegmentationClass", "depth": "../depth", "ids": "../panoptic"}
TARGETS = forebay.Targets(masks=MASKS, labels="none")


def numbers_of(record: int) -> np.ndarray:
    """The mask of a record: its columns and rows can be told from each other."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return (7 * rows + 3 * columns + record).astype(np.uint8)


def write_masked(folder: Path) -> None:
    """Six pictures of VOC's form, whose red and green are column and row. The masks of five of them."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for record in range(6):
        picture = np.stack([columns, rows, np.full_like(rows, record)], axis=-1).astype(np.uint8)
        file = folder / "JPEGImages" / f"{record}.ppm"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + picture.tobytes())
        if record != 4:
            write_png(folder / "SegmentationClass" / f"{record}.png", numbers_of(record), palette=True)
            write_png(folder / "depth" / f"{record}.png", numbers_of(record).astype(np.uint16) * 257)
            colours = np.stack([numbers_of(record), np.full_like(numbers_of(0), 2), np.full_like(numbers_of(0), 1)], -1)
            write_png(folder / "panoptic" / f"{record}.png", colours)
