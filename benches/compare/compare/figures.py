"""What several rounds come to: medians and spreads. Pure, and tested with made-up figures."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """An entrant's pictures per second over the rounds of one work."""

    median: float
    least: float
    most: float
    rounds: int

    @classmethod
    def of(cls, rates: Sequence[float]) -> Figure:
        """Of at least one round."""
        return cls(statistics.median(rates), min(rates), max(rates), len(rates))

    @property
    def spread(self) -> float:
        """Half the distance between the least and the most, as a part of the median."""
        return (self.most - self.least) / 2 / self.median


@dataclass(frozen=True)
class Outcome:
    """What came of one entrant in one work: a figure, or why there is none."""

    figure: Figure | None
    reason: str = ""


def outcome(rates: Sequence[float], reasons: Sequence[str]) -> Outcome:
    """One failed round makes the whole row fail: a median of those that went well would flatter."""
    if reasons:
        return Outcome(None, reasons[0])
    return Outcome(Figure.of(rates)) if rates else Outcome(None, "not run")


def best(outcomes: Mapping[str, Outcome], names: Sequence[str]) -> tuple[str, float] | None:
    """The fastest of those named that have a figure."""
    found = [(name, o.figure.median) for name in names if (o := outcomes.get(name)) and o.figure]
    return max(found, key=lambda pair: pair[1], default=None)
