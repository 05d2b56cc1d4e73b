"""How much pixels differ: for one picture, and for many together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = ["Difference", "Tally", "WorstPicture"]


@dataclass(frozen=True)
class Difference:
    """Of one picture. Values are those of single channels, 0 to 255.

    Attributes:
        greatest: The greatest difference of a value.
        sum: The sum of all differences.
        over: Values that differ by more than 1.
        values: All values.
        at: Column and row of the first pixel with the greatest difference.
    """

    greatest: int
    sum: int
    over: int
    values: int
    at: tuple[int, int]

    @classmethod
    def between(cls, ours: np.ndarray, theirs: np.ndarray) -> Difference | None:
        """Of two `uint8` arrays of height x width x 3. None if they are not of one size."""
        if ours.shape != theirs.shape:
            return None
        apart = np.maximum(ours, theirs) - np.minimum(ours, theirs)
        row, column, _ = np.unravel_index(int(apart.argmax()), apart.shape)
        return cls(
            greatest=int(apart.max()),
            sum=int(apart.sum(dtype=np.uint64)),
            over=int(np.count_nonzero(apart > 1)),
            values=apart.size,
            at=(int(column), int(row)),
        )

    @property
    def mean(self) -> float:
        """The mean over all values."""
        return self.sum / self.values


class WorstPicture(NamedTuple):
    """The picture with the greatest mean difference."""

    picture: str
    mean: float


@dataclass
class Tally:
    """Of many pictures.

    Attributes:
        pictures: How many there are.
        equal: Those without any difference.
        greatest: The greatest difference of a value.
        worst: The picture with the greatest mean difference. None if all are equal.
    """

    pictures: int = 0
    equal: int = 0
    greatest: int = 0
    sum: int = 0
    over: int = 0
    values: int = 0
    worst: WorstPicture | None = None

    def add(self, picture: str, difference: Difference) -> bool:
        """Counts a picture. Returns whether it is the worst so far."""
        self.pictures += 1
        self.equal += difference.greatest == 0
        self.greatest = max(self.greatest, difference.greatest)
        self.sum += difference.sum
        self.over += difference.over
        self.values += difference.values
        is_worst = difference.mean > (self.worst.mean if self.worst else 0.0)
        if is_worst:
            self.worst = WorstPicture(picture, difference.mean)
        return is_worst

    @property
    def mean(self) -> float:
        """The mean over all values of all pictures."""
        return self.sum / max(self.values, 1)

    @property
    def share_over(self) -> float:
        """The share of all values that differ by more than 1."""
        return self.over / max(self.values, 1)
