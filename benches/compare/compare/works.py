"""The works: which files, and what becomes of each picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from measuring.pictures import pictures


@dataclass(frozen=True)
class Work:
    """One column of figures."""

    name: str
    says: str
    # What the entrants' scripts know: "train", "eval", or a list of transforms that has the work's own name.
    task: str
    batch: int
    # On stitched photographs instead of those given.
    big: bool = False


WORKS = {
    work.name: work
    for work in (
        Work("train", "RandomResizedCrop(224) with torchvision's defaults and a flip half the time", "train", 64),
        Work("eval", "shorter side to 256, the middle 224 x 224", "eval", 64),
        Work("big", "12-megapixel photographs: shorter side to 256, the middle 224 x 224", "eval", 8, big=True),
        Work(
            "trivial",
            "RandomResizedCrop(224), flip, TrivialAugmentWide by the bilinear filter, RandomErasing(0.1)",
            "trivial",
            64,
        ),
        Work(
            "simclr",
            "RandomResizedCrop(224) by the bicubic filter, flip, ColorJitter(0.8, 0.8, 0.8, 0.2) with probability 0.8, "
            "gray with 0.2, GaussianBlur(23) with 0.5",
            "simclr",
            64,
        ),
        Work(
            "dinov2",
            "DINOv2's ten views of each picture, 2 of 224 and 8 of 96: crop by the bicubic filter, flip, colours, blur",
            "dinov2",
            32,
        ),
        Work(
            "python",
            "Albumentations on the decoded picture: RandomResizedCrop(224), flip, ColorJitter, CoarseDropout",
            "python",
            64,
        ),
        Work(
            "python-after-crop",
            "RandomResizedCrop(224) and flip by the loader, then Albumentations: ColorJitter, CoarseDropout",
            "python-after-crop",
            64,
        ),
    )
}


def photographs(folder: Path) -> list[str]:
    """The JPEG files below a folder, in the order of their paths."""
    found = [str(path) for path in pictures(folder)]
    if not found:
        raise SystemExit(f"compare: there is no JPEG file below {folder}")
    return found
