"""Two small trainings on batches of views: a classifier, and the self-distillation of DINO. Both run on the CPU."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator

import torch
from loaders import Views
from torch import nn

# Of DINO: prototypes, temperatures of teacher and student, and how slowly teacher and centre change.
PROTOTYPES, SHARP, SOFT, TEACHER, CENTRE = 64, 0.04, 0.1, 0.99, 0.9


class Prototypes(nn.Module):
    """How far features point to each of some directions, from -1 to 1: the last layer of DINO."""

    def __init__(self, features: int, count: int) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.randn(count, features))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """The n x count cosines of n x features."""
        return nn.functional.normalize(features, dim=1) @ nn.functional.normalize(self.directions, dim=1).T


def network(last: nn.Module) -> nn.Module:
    """A few convolutions for pictures of any size, and a last layer for their 64 features."""

    def block(before: int, after: int) -> list[nn.Module]:
        return [nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]

    body = [*block(3, 16), *block(16, 32), *block(32, 64)]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), last)


def classification(batches: Iterator[Views], steps: int) -> list[float]:
    """The loss of each step, with soft labels."""
    model: nn.Module | None = None
    losses = []
    for views in itertools.islice(batches, steps):
        if model is None:
            model = network(nn.Linear(64, views.labels.shape[1]))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        loss = nn.functional.cross_entropy(model(views.pictures[0]), views.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def distillation(batches: Iterator[Views], steps: int) -> list[float]:
    """The loss of each step: the student sees all crops, and foretells what the teacher makes of the global ones.

    See Caron et al., "Emerging Properties in Self-Supervised Vision Transformers", section 3.1.
    """
    student = network(Prototypes(64, PROTOTYPES))
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    centre = torch.zeros(PROTOTYPES)
    losses = []
    for views in itertools.islice(batches, steps):
        with torch.no_grad():
            taught = [teacher(picture) for picture in views.pictures[:2]]
            targets = [torch.softmax((each - centre) / SHARP, dim=1) for each in taught]
        answers = [torch.log_softmax(student(picture) / SOFT, dim=1) for picture in views.pictures]
        pairs = [
            -(target * answer).sum(1).mean()
            for (one, target), (other, answer) in itertools.product(enumerate(targets), enumerate(answers))
            if one != other
        ]
        loss = torch.stack(pairs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            centre = CENTRE * centre + (1 - CENTRE) * torch.cat(taught).mean(0)
            for slow, fast in zip(teacher.parameters(), student.parameters()):
                slow.lerp_(fast, 1 - TEACHER)
        losses.append(loss.item())
    return losses


TRAININGS = {"classification": classification, "DINOv2": distillation}
