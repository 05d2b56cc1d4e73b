"""The same recipe twice: batches with torchvision's transforms under PyTorch's DataLoader, and Forebay's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import forebay
import torch
from forebay import recipes
from forebay import transforms as ours
from forebay.recipes import MEAN, STD
from torch.utils.data import DataLoader, RandomSampler
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode

SIZE, LOCAL, LOCALS, SMOOTHING = 64, 32, 8, 0.1


class Views(NamedTuple):
    """A batch: its views, each n x 3 x height x width of float32, large ones first; labels, n x classes of float32."""

    pictures: list[torch.Tensor]
    labels: torch.Tensor


class Job(NamedTuple):
    """What to load."""

    folder: Path
    classes: int
    batch: int
    seed: int


def classification_of_torchvision(job: Job) -> Iterator[Views]:
    """The reference's preset with TrivialAugmentWide, RandomErasing, and MixUp or CutMix by chance."""
    augment = v2.TrivialAugmentWide(interpolation=InterpolationMode.BILINEAR)
    first = [v2.RandomResizedCrop(SIZE, antialias=True), v2.RandomHorizontalFlip(), augment]
    view = v2.Compose([*first, *to_floats(), v2.RandomErasing(0.1)])
    mixing = v2.RandomChoice(
        [v2.MixUp(alpha=0.2, num_classes=job.classes), v2.CutMix(alpha=1.0, num_classes=job.classes)]
    )
    for (pictures,), labels in of_torch(job, [view]):
        mixed, soft = mixing(pictures, labels)
        yield Views([mixed], smoothed(soft, job.classes))


def classification_of_forebay(job: Job) -> Iterator[Views]:
    """The same by Forebay, which mixes too."""
    recipe = recipes.torchvision_train(SIZE, auto_augment="ta_wide", random_erase_prob=0.1)
    mixing = ours.RandomChoice([ours.MixUp(0.2), ours.CutMix(1.0)])
    with of_forebay(job, transform=recipe, mixing=forebay.Mixing(mixing, per_batch=True)) as loader:
        batches = loader.torch(num_classes=job.classes, label_smoothing=SMOOTHING)
        for batch in endless(batches):
            yield Views([batch.images], batch.labels)


def crops_of_torchvision(job: Job) -> Iterator[Views]:
    """DINOv2's two global and eight local crops, as its authors' code has them, with the paper's chances of a blur."""

    def crop(size: int, scale: tuple[float, float], blurred: float, *last: v2.Transform) -> v2.Transform:
        random = v2.RandomResizedCrop(size, scale, interpolation=InterpolationMode.BICUBIC, antialias=True)
        colours = [v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.2, 0.1)], 0.8), v2.RandomGrayscale(0.2)]
        blur = v2.RandomApply([v2.GaussianBlur(9, (0.1, 2.0))], blurred)
        return v2.Compose([random, v2.RandomHorizontalFlip(), *colours, blur, *last, *to_floats()])

    large, small = (0.32, 1.0), (0.05, 0.32)
    views = [crop(SIZE, large, 1.0), crop(SIZE, large, 0.1, v2.RandomSolarize(128, 0.2))]
    views += [crop(LOCAL, small, 0.5) for _ in range(LOCALS)]
    for pictures, labels in of_torch(job, views):
        yield Views(pictures, torch.nn.functional.one_hot(labels, job.classes).float())


def crops_of_forebay(job: Job) -> Iterator[Views]:
    """The same by Forebay, from one decode."""
    views = recipes.dinov2(global_crops_size=SIZE, local_crops_size=LOCAL, local_crops_number=LOCALS)
    names = list(views)
    with of_forebay(job, transform=views.pop("images"), views=views) as loader:
        for batch in endless(loader.torch(as_dict=True)):
            labels = torch.nn.functional.one_hot(batch["labels"].long(), job.classes).float()
            yield Views([batch[name] for name in names], labels)


def to_floats() -> list[v2.Transform]:
    """What every recipe ends with."""
    return [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]


def smoothed(soft: torch.Tensor, classes: int) -> torch.Tensor:
    """Labels of which all classes share a part."""
    return soft * (1 - SMOOTHING) + SMOOTHING / classes


def of_torch(job: Job, views: list[v2.Transform]) -> Iterator[tuple[list[torch.Tensor], torch.Tensor]]:
    """All views of each picture, and its class, epoch after epoch."""
    folder = ImageFolder(job.folder, lambda picture: [view(picture) for view in views])
    order = torch.Generator().manual_seed(job.seed)
    shared = {"batch_size": job.batch, "drop_last": True, "num_workers": 1, "persistent_workers": True}
    yield from endless(DataLoader(folder, sampler=RandomSampler(folder, generator=order), **shared))


def of_forebay(job: Job, **options: Any) -> forebay.Loader:  # noqa: ANN401 - the Loader's
    """A Loader of floats with one thread."""
    shared = {"shuffle": True, "seed": job.seed, "last_batch_policy": "drop", "dtype": "float32", "layout": "NCHW"}
    return forebay.Loader(job.folder, batch_size=job.batch, num_threads=1, **shared, **options)


def endless(batches: Any) -> Iterator[Any]:  # noqa: ANN401 - of either loader
    """One epoch after the other."""
    return itertools.chain.from_iterable(itertools.repeat(batches))


RECIPES: dict[str, dict[str, Callable[[Job], Iterator[Views]]]] = {
    "classification": {"torchvision": classification_of_torchvision, "Forebay": classification_of_forebay},
    "DINOv2": {"torchvision": crops_of_torchvision, "Forebay": crops_of_forebay},
}
