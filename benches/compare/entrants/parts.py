"""Which part of a picture a hand-written loop takes: torchvision's rule, in plain Python."""

from __future__ import annotations

import math
import random

from stopwatch import AREA, RATIO, SHORTER, SIZE

TRIES = 10

Box = tuple[int, int, int, int]


def random_part(width: int, height: int) -> Box:
    """Left, top, right, bottom of a training crop."""
    low, high = math.log(RATIO[0]), math.log(RATIO[1])
    for _ in range(TRIES):
        area = width * height * random.uniform(*AREA)
        ratio = math.exp(random.uniform(low, high))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            left, top = random.randint(0, width - w), random.randint(0, height - h)
            return left, top, left + w, top + h
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    return left, top, left + side, top + side


def middle(width: int, height: int) -> tuple[float, float, float, float]:
    """The square of the picture that becomes the middle 224 when its shorter side is made 256."""
    side = min(width, height) * SIZE / SHORTER
    left, top = (width - side) / 2, (height - side) / 2
    return left, top, left + side, top + side
