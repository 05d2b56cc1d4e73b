"""FFCV over a file that is written from the pictures once; option `mode`: "jpg" (the original bytes) or "raw"."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import stopwatch
import torch
from ffcv.fields import IntField, RGBImageField, rgb_image
from ffcv.fields.decoders import CenterCropRGBImageDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import RandomHorizontalFlip, ToTensor
from ffcv.writer import DatasetWriter

# FFCV's ImageNet example: pictures whose longer side is above this are made smaller when they are written raw.
LONGEST = 500


class Decoded(np.ndarray):
    """Pixels that know the bytes which they were decoded from."""

    jpeg: np.ndarray


class Pictures:
    """The files as FFCV's writer asks for them."""

    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        jpeg = np.fromfile(self.files[index], np.uint8)
        pixels = cv2.imdecode(jpeg, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
        picture = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB).view(Decoded)
        picture.jpeg = jpeg
        return picture, 0


def written(job: stopwatch.Job, mode: str) -> Path:
    """The file for these pictures; made at the first call."""
    name = hashlib.sha256("\n".join(job.files).encode()).hexdigest()[:16]
    path = Path(job.folder) / f"ffcv-{mode}-{name}.beton"
    if not path.exists():
        half = path.with_suffix(".half")
        field = RGBImageField(write_mode=mode, max_resolution=LONGEST if mode == "raw" else None)
        # The writer would compress anew, and other bytes would be compared.
        rgb_image.encode_jpeg = lambda picture, _quality: picture.jpeg
        DatasetWriter(str(half), {"image": field, "label": IntField()}, num_workers=1).from_indexed_dataset(
            Pictures(job.files)
        )
        os.replace(half, path)
    return path


def batches(job: stopwatch.Job) -> Iterator[torch.Tensor]:
    """Tensors of FFCV's own memory."""
    if job.task == "train":
        decode = [RandomResizedCropRGBImageDecoder((stopwatch.SIZE,) * 2, stopwatch.AREA, stopwatch.RATIO)]
        decode.append(RandomHorizontalFlip())
    else:
        decode = [CenterCropRGBImageDecoder((stopwatch.SIZE,) * 2, ratio=stopwatch.SIZE / stopwatch.SHORTER)]
    loader = Loader(
        str(written(job, job.options["mode"])),
        batch_size=job.batch,
        num_workers=job.threads,
        order=OrderOption.RANDOM if job.task == "train" else OrderOption.SEQUENTIAL,
        drop_last=True,
        os_cache=True,
        pipelines={"image": [*decode, ToTensor()], "label": None},
    )
    while True:
        for (pictures,) in loader:
            yield pictures


stopwatch.run(batches)
