"""torchvision's transforms under PyTorch's DataLoader, as its documentation shows them; options: `reader`."""

from __future__ import annotations

from collections.abc import Iterator

import stopwatch
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, RandomSampler
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2


class Pictures(Dataset):
    """The files, decoded by Pillow or by torchvision's own reader, transformed one by one."""

    def __init__(self, job: stopwatch.Job) -> None:
        steps = {
            "train": [
                v2.RandomResizedCrop(stopwatch.SIZE, stopwatch.AREA, stopwatch.RATIO, antialias=True),
                v2.RandomHorizontalFlip(),
            ],
            "eval": [v2.Resize(stopwatch.SHORTER, antialias=True), v2.CenterCrop(stopwatch.SIZE)],
        }[job.task]
        self.files = job.files
        self.pillow = job.options["reader"] == "pillow"
        self.transform = v2.Compose([*steps, v2.PILToTensor()] if self.pillow else steps)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> torch.Tensor:
        path = self.files[index]
        if self.pillow:
            with Image.open(path) as picture:
                return self.transform(picture.convert("RGB"))
        return self.transform(decode_image(path, mode=ImageReadMode.RGB))


def batches(job: stopwatch.Job) -> Iterator[torch.Tensor]:
    """Worker processes, one per thread of the others; this process only collects."""
    torch.set_num_threads(1)
    pictures = Pictures(job)
    # One epoch without end: the workers' start and the epoch's border are not what is compared.
    endless = RandomSampler(pictures, replacement=False, num_samples=len(pictures) * 10_000)
    yield from DataLoader(pictures, batch_size=job.batch, sampler=endless, num_workers=job.threads, prefetch_factor=2)


stopwatch.run(batches)
