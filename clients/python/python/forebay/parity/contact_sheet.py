"""The worst picture of each comparison: ours, Pillow's and the amplified difference side by side."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from forebay.parity.difference import Difference
from forebay.parity.table import short

__all__ = ["Sheet", "first"]

# Longest side of what is shown of a picture. More of it would be made smaller, and the difference lost.
WINDOW = 256
GAP = 8
# Height of a line of text, and of the caption's two.
LINE = 15
CAPTION = 2 * LINE + 3
PAPER = (250, 250, 248)


class Sheet:
    """One row for each dataset and comparison that has a difference."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], tuple[list[str], list[Image.Image]]] = {}

    def keep(
        self, path: str, task: str, name: str, ours: np.ndarray, theirs: np.ndarray, difference: Difference
    ) -> None:
        """Takes a picture in place of the one that was this comparison's worst so far."""
        factor = 255 // max(difference.greatest, 1)
        height, width, _ = ours.shape
        (left, wide), (top, high) = (
            (first(at, side), min(side, WINDOW)) for at, side in zip(difference.at, (width, height))
        )
        # Small pictures are shown larger, each pixel as a square.
        zoom = WINDOW // max(wide, high)
        one, other = (each[top : top + high, left : left + wide].astype(np.int16) for each in (ours, theirs))
        shown = [one, other, np.minimum(abs(one - other) * factor, 255)]
        pictures = [Image.fromarray(each.astype(np.uint8).repeat(zoom, 0).repeat(zoom, 1)) for each in shown]
        numbers = f"greatest {difference.greatest}, mean {difference.mean:.3f}; difference x {factor}"
        self._rows[path, task] = ([f"{short(path)}, {task}", f"{name}: {numbers}"], pictures)

    def draw(self) -> Image.Image | None:
        """The whole sheet. None if nothing differs."""
        if not self._rows:
            return None
        heights = [pictures[0].height + CAPTION + GAP for _, pictures in self._rows.values()]
        sheet = Image.new("RGB", (3 * (WINDOW + GAP) + GAP, sum(heights) + GAP), PAPER)
        canvas, font = ImageDraw.Draw(sheet), ImageFont.load_default()
        top = GAP
        for (caption, pictures), height in zip(self._rows.values(), heights):
            for line, text in enumerate(caption):
                # The font of an older Pillow has no other characters.
                plain = text.encode("ascii", "replace").decode()
                canvas.text((GAP, top + line * LINE), plain, fill=(0, 0, 0), font=font)
            for place, picture in enumerate(pictures):
                sheet.paste(picture, (GAP + place * (WINDOW + GAP), top + CAPTION))
            top += height
        return sheet


def first(place: int, length: int) -> int:
    """First column (or row) of a window around a place."""
    return min(max(place - WINDOW // 2, 0), max(length - WINDOW, 0))
