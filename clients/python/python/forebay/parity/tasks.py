"""What both sides do with each picture: our transforms, and the same in Pillow or torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from PIL import Image

from forebay._native import TransformList
from forebay.image import probe
from forebay.parity import pillow
from forebay.parity.pillow import Opened
from forebay.parity.published import PublishedRecipe
from forebay.transforms import CenterCrop, RandomHorizontalFlip, RandomResizedCrop, Resize, Transform
from forebay.transforms.in_process import document, made_of, pipeline

__all__ = ["Plan", "Task", "common", "planned"]

# Side of all results but whole pictures and those of `GAP`.
SIDE = 224
# Side of what is resized with a reducing gap: small, so that photographs of 500 pixels are decoded at a smaller scale.
SMALL = 64
GAP = 2.0
# Shorter side before the middle is cut, as a Loader's `size` has it in evaluation.
SHORTER = 256
# Of the random parts: any will do, and the same one each time.
SEED = 0

# What was drawn for a picture: a document of steps.
Plan = dict[str, Any]
Theirs = Callable[[Opened, Plan], Image.Image]


@dataclass(frozen=True)
class Task:
    """One comparison.

    Attributes:
        name: What it is called in tables.
        pipeline: Our side.
        theirs: What Pillow, or torch, makes of a picture with what our side has drawn.
        needs_plan: Whether `theirs` uses what was drawn.
    """

    name: str
    pipeline: TransformList
    theirs: Theirs
    needs_plan: bool = False

    def ours(self, data: bytes, record: int, name: str) -> np.ndarray:
        """Our pixels, as a `uint8` array of height x width x 3. `name` is for errors.

        Raises:
            PictureError: The picture cannot be decoded.
        """
        return made_of(self.pipeline, data, (SEED, 0, record), name=name)

    def plan(self, data: bytes, record: int) -> Plan:
        """What is drawn for a picture. Empty if the other side needs none of it."""
        if not self.needs_plan:
            return {}
        seen = probe(data)
        return json.loads(self.pipeline.plan((seen.width, seen.height), (SEED, 0, record)))


def common(has_torch: bool) -> list[Task]:
    """What is compared without recipes, whole pictures first."""
    square, small = (SIDE, SIDE), (SMALL, SMALL)
    training = [RandomResizedCrop(SIDE), RandomHorizontalFlip()]
    evaluation = [Resize(SHORTER), CenterCrop(SIDE)]

    def resized(side: int, name: str) -> Theirs:
        return lambda opened, _: opened.picture.resize((side, side), Image.Resampling[name.upper()])

    def by_torch(name: str) -> Theirs:
        return lambda opened, _: pillow.by_torch(opened.picture, SIDE, name)

    tasks = [
        Task("decode: whole pictures, upright", _pipeline([]), lambda opened, _: opened.picture),
        Task(
            f"crop: the middle {SIDE}, not resized",
            _pipeline([CenterCrop(square)]),
            lambda opened, _: pillow.middle(opened.picture, SIDE),
        ),
        Task(
            f"training: random part to {SIDE}, mirrored by chance",
            _pipeline(training),
            lambda opened, plan: pillow.part(plan, opened.picture, SIDE),
            needs_plan=True,
        ),
        Task(
            f"evaluation: shorter side {SHORTER}, the middle {SIDE}",
            _pipeline(evaluation),
            lambda opened, _: pillow.middle(pillow.shorter(opened.picture, SHORTER), SIDE),
        ),
    ]
    for name in ("bilinear", "bicubic", "lanczos3", "nearest"):
        row, theirs = f"resize to {SIDE} x {SIDE}, {name}", resized(SIDE, pillow.FILTERS.get(name, name))
        tasks.append(Task(row, _pipeline([Resize(square, name)]), theirs))
    for name in ("bilinear", "bicubic") if has_torch else ():
        row = f'resize to {SIDE} x {SIDE}, {name}, match = "torch", beside torch\'s'
        tasks.append(Task(row, _pipeline([Resize(square, name)], match="torch"), by_torch(name)))
    reduced, row = _pipeline([Resize(small)], reducing_gap=GAP), f"reducing_gap {GAP}, to {SMALL} x {SMALL}, beside"
    return [
        *tasks,
        Task(f"{row} Pillow's", reduced, lambda opened, _: pillow.reduced(opened.data, SMALL, GAP)),
        Task(f"{row} an exact resize", reduced, resized(SMALL, "bilinear")),
    ]


def planned(recipe: PublishedRecipe) -> Task:
    """A recipe that is compared step by step, each with the parameters that we draw."""

    def theirs(opened: Opened, plan: Plan) -> Image.Image:
        return pillow.planned(plan, opened.picture, recipe.resize, recipe.magnitudes)

    return Task(recipe.name, pipeline(document(recipe.steps)), theirs, needs_plan=True)


def _pipeline(steps: Sequence[Transform], match: str = "pillow", reducing_gap: float | None = None) -> TransformList:
    return pipeline(document([step.to_settings() for step in steps]), match, reducing_gap=reducing_gap)
