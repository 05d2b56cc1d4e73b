"""What a worker gets: a shard, and the task of reading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["EVALUATION", "PREDICTION", "TRAINING", "Shard", "Task"]

# What tasks are for, with ElasticDL's numbers. The coordinator does not look at it.
TRAINING = 1
EVALUATION = 2
PREDICTION = 3


@dataclass(frozen=True)
class Shard:
    """Records of a dataset.

    Attributes:
        name: The dataset.
        start: The first record.
        end: The record behind the last one.
        indices: The records in the order in which they are to be read, if they are shuffled. Otherwise empty.
    """

    name: str
    start: int
    end: int
    indices: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def records(self) -> Sequence[int]:
        """The records in the order in which they are to be read."""
        return self.indices or range(self.start, self.end)


@dataclass(frozen=True)
class Task:
    """A shard that this worker has.

    Attributes:
        task_id: A number that no other task of the dataset has.
        shard: What to read.
        epoch: The epoch, from 0.
        task_type: What the task is for.
        restores: How often its client had gone back to a state when it was given.
    """

    task_id: int
    shard: Shard
    epoch: int
    task_type: int
    restores: int = field(default=0, repr=False, compare=False)
