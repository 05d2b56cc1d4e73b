"""What the epochs of a DALI iterator showed beside their own records. Pure.

The audit counts what the daemon delivered to the iterator: each record once in an epoch of the stream. DALI's epochs
are cut otherwise. This report says which records an iterator repeated, borrowed or left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from forebay.dali.reading import Run
from forebay.dali.shards import Shards

__all__ = ["EpochReport", "Showing"]


class EpochReport(NamedTuple):
    """What one pipeline showed in one epoch of an iterator.

    Attributes:
        epoch: Number of the epoch, from 0.
        shard_id: The shard in which the reader was when the epoch began.
        shown: Number of samples, with those that follow.
        repeated: Records that were shown again in this epoch: padding, and with one shard, or with `stick_to_shard`,
            those that the reader came to again.
        borrowed: Records that the reader took from its next shard, so that an epoch after this one lacks them. With
            shuffle, this epoch may have shown them before.
        dropped: Records that were read and not shown.

    Example:
        >>> for epoch in iterator.report():                                                     # doctest: +SKIP
        ...     print(epoch.epoch, epoch.shard_id, epoch.repeated)
    """

    epoch: int
    shard_id: int
    shown: int
    repeated: tuple[int, ...]
    borrowed: tuple[int, ...]
    dropped: tuple[int, ...]


class Showing:
    """The report of a pipeline's epoch while it is made.

    Args:
        epoch: Number of the epoch.
        shards: The shards of the reader.
        is_shuffled: Whether each epoch of the stream has its own order.
    """

    def __init__(self, epoch: int, shards: Shards, *, is_shuffled: bool) -> None:
        self._epoch = epoch
        self._shards = shards
        self._is_shuffled = is_shuffled
        self._began: int | None = None
        self._read = 0
        self._shown = 0
        self._repeated: list[int] = []
        self._borrowed: list[int] = []
        self._dropped: list[int] = []

    def add(self, runs: Sequence[Run], records: np.ndarray, shown: int) -> None:
        """Adds a batch.

        Args:
            runs: What the reader gave.
            records: Record number of each sample.
            shown: How many of them the iterator shows.
        """
        self._shown += shown
        place = 0
        for run in runs:
            numbers = records[place : place + run.count].tolist()
            seen = max(min(shown - place, run.count), 0)
            place += run.count
            if self._began is None:
                self._began = run.epoch
            if run.is_padding:
                self._repeated += numbers[:seen]
                continue
            new = self._new(run.count)
            self._repeated += numbers[new:seen]
            if run.epoch > self._began:
                self._borrowed += numbers[: min(new, seen)]
            self._dropped += numbers[seen:]
            self._read += run.count

    def made(self) -> EpochReport:
        """The report so far."""
        shard = self._shards.of_epoch(self._began or 0)
        lists = map(tuple, (self._repeated, self._borrowed, self._dropped))
        return EpochReport(self._epoch, shard, self._shown, *lists)

    def _new(self, count: int) -> int:
        """How many of the next samples come for the first time in this epoch: then the reader has been everywhere."""
        if self._is_shuffled:
            return count
        cycle = self._shards.size(self._shards.shard_id) if self._shards.stick else self._shards.records
        return max(min(cycle - self._read, count), 0)
