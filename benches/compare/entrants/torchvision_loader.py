"""torchvision's transforms under PyTorch's DataLoader, as its documentation shows them; options: `reader`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import stopwatch
import torch
from PIL import Image
from stopwatch import AREA, RATIO, SHORTER, SIZE
from torch.utils.data import DataLoader, Dataset, RandomSampler
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode


class Pictures(Dataset):
    """The files, decoded by Pillow or by torchvision's own reader, transformed one by one."""

    def __init__(self, job: stopwatch.Job) -> None:
        self.files = job.files
        self.pillow = job.options["reader"] == "pillow"
        if job.task.startswith("python"):
            self.views = [albumentations_after(job.task)]
            return
        self.views = [v2.Compose([*steps, v2.PILToTensor(), *last]) for steps, last in views(job.task)]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> list[torch.Tensor]:
        path = self.files[index]
        if self.pillow:
            with Image.open(path) as picture:
                picture = picture.convert("RGB")
        else:
            picture = decode_image(path, mode=ImageReadMode.RGB)
        return [view(picture) for view in self.views]


def albumentations_after(task: str) -> Callable[[Image.Image | torch.Tensor], torch.Tensor]:
    """A pipeline of Albumentations on the picture, or on torchvision's crop of it. Its arrays become the batch's."""
    import functions

    pipeline = functions.PIPELINES[task]
    crop = v2.RandomResizedCrop(SIZE, AREA, RATIO, antialias=True)
    cropped = v2.Compose([crop, v2.RandomHorizontalFlip()]) if task == "python-after-crop" else v2.Identity()

    def transformed(picture: Image.Image | torch.Tensor) -> torch.Tensor:
        picture = cropped(picture)
        array = picture.permute(1, 2, 0).numpy() if isinstance(picture, torch.Tensor) else np.asarray(picture)
        return torch.from_numpy(pipeline(image=array)["image"])

    return transformed


def views(task: str) -> list[tuple[list[v2.Transform], list[v2.Transform]]]:
    """For each view of a picture its transforms, and those that torchvision has for tensors alone."""
    flip = v2.RandomHorizontalFlip()
    if task == "eval":
        return [([v2.Resize(SHORTER, antialias=True), v2.CenterCrop(SIZE)], [])]
    if task == "train":
        return [([v2.RandomResizedCrop(SIZE, AREA, RATIO, antialias=True), flip], [])]
    if task == "trivial":
        augment = v2.TrivialAugmentWide(interpolation=InterpolationMode.BILINEAR)
        crop = v2.RandomResizedCrop(SIZE, AREA, RATIO, antialias=True)
        return [([crop, flip, augment], [v2.RandomErasing(0.1)])]
    if task == "simclr":
        blur = v2.RandomApply([v2.GaussianBlur(23)], 0.5)
        return [([bicubic(SIZE, AREA), flip, *colours(0.8, 0.8, 0.2), blur], [])]

    def dino(size: int, scale: tuple[float, float], blurred: float) -> list[v2.Transform]:
        blur = v2.RandomApply([v2.GaussianBlur(9)], blurred)
        return [bicubic(size, scale), flip, *colours(0.4, 0.2, 0.1), blur]

    first, local = dino(224, (0.32, 1.0), 1.0), dino(96, (0.05, 0.32), 0.5)
    second = [*dino(224, (0.32, 1.0), 0.1), v2.RandomSolarize(128, 0.2)]
    return [(first, []), (second, []), *[(local, [])] * 8]


def bicubic(size: int, scale: tuple[float, float]) -> v2.Transform:
    """A random part."""
    return v2.RandomResizedCrop(size, scale, RATIO, InterpolationMode.BICUBIC, antialias=True)


def colours(values: float, saturation: float, hue: float) -> list[v2.Transform]:
    """Colour jitter and gray, as SimCLR and DINOv2 draw them."""
    jitter = v2.ColorJitter(values, values, saturation, hue)
    return [v2.RandomApply([jitter], 0.8), v2.RandomGrayscale(0.2)]


def batches(job: stopwatch.Job) -> Iterator[list[torch.Tensor]]:
    """Worker processes, one per thread of the others; this process only collects."""
    torch.set_num_threads(1)
    pictures = Pictures(job)
    # One epoch without end: the workers' start and the epoch's border are not what is compared.
    endless = RandomSampler(pictures, replacement=False, num_samples=len(pictures) * 10_000)
    yield from DataLoader(pictures, batch_size=job.batch, sampler=endless, num_workers=job.threads, prefetch_factor=2)


stopwatch.run(batches)
