"""A lean loop on Pillow-SIMD; option `gap`: Pillow's `reducing_gap`, which lets libjpeg decode at a smaller scale."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import parts
import stopwatch
from PIL import Image
from pool import filled

SIZE = (stopwatch.SIZE, stopwatch.SIZE)


def batches(job: stopwatch.Job) -> Iterator[np.ndarray]:
    """Decode, cut and resize in one call of `resize` with a box."""
    gap = job.options.get("gap")

    def one(path: str, place: np.ndarray) -> None:
        with Image.open(path) as picture:
            width, height = picture.size
            train = job.task == "train"
            box = parts.random_part(width, height) if train else parts.middle(width, height)
            if gap:
                # Smallest size at which the part still has `gap` times the pixels that it needs.
                keep = gap * stopwatch.SIZE / min(box[2] - box[0], box[3] - box[1])
                picture.draft("RGB", (int(width * keep), int(height * keep)))
                scale = (picture.size[0] / width, picture.size[1] / height) * 2
                box = tuple(side * factor for side, factor in zip(box, scale))
            picture = picture.convert("RGB").resize(SIZE, Image.Resampling.BILINEAR, box)
            if train and random.random() < 0.5:
                picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            place[:] = np.asarray(picture)

    return filled(job, one)


stopwatch.run(batches)
