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

    A record may be in `repeated` and in `borrowed`.

    Attributes:
        epoch: Number of the epoch, from 0.
        pipeline: Which of the iterator's pipelines, from 0.
        shard_id: The shard in which the reader was when the epoch began.
        shown: Number of samples, with those that follow.
        repeated: Records that this epoch had shown before, once for each time: padding, copies in place of bad records,
            and those that the reader came to again.
        borrowed: Records that the reader took from its next shard, so that an epoch after this one lacks them.
        dropped: Records that were read and not shown.

    Example:
        >>> for epoch in iterator.report():                                                     # doctest: +SKIP
        ...     print(epoch.epoch, epoch.shard_id, epoch.repeated)
    """

    epoch: int
    pipeline: int
    shard_id: int
    shown: int
    repeated: tuple[int, ...]
    borrowed: tuple[int, ...]
    dropped: tuple[int, ...]


class _Part(NamedTuple):
    """What one batch adds to a report."""

    shown: int
    repeated: np.ndarray
    borrowed: np.ndarray
    dropped: np.ndarray


class Showing:
    """The report of a pipeline's epoch while it is made.

    Args:
        epoch: Number of the epoch.
        pipeline: Number of the pipeline.
        shards: The shards of the reader.
    """

    def __init__(self, epoch: int, pipeline: int, shards: Shards) -> None:
        self._epoch = epoch
        self._pipeline = pipeline
        self._shards = shards
        self._began = 0
        # For each record, the number of the batch that showed it first. 0 is none.
        self._first = np.zeros(shards.records, np.int32)
        self._parts: list[_Part] = []

    def add(self, number: int, runs: Sequence[Run], records: np.ndarray, shown: int) -> None:
        """Adds a batch. To add it again, after an exception, changes nothing.

        Args:
            number: Number of the batch in the epoch, from 1.
            runs: What the reader gave.
            records: Record number of each sample.
            shown: How many of them the iterator shows.
        """
        if number == 1:
            self._began = runs[0].epoch
        is_later = np.repeat([run.epoch > self._began for run in runs], [run.count for run in runs])
        is_padding = np.repeat([run.is_padding for run in runs], [run.count for run in runs])
        seen = records[:shown]
        before = self._first[seen]
        is_first = np.zeros(shown, bool)
        is_first[np.unique(seen, return_index=True)[1]] = True
        is_first &= (before == 0) | (before == number)
        self._first[seen[is_first]] = number
        self._parts[number - 1 :] = [
            _Part(
                shown,
                seen[~is_first],
                seen[is_later[:shown] & ~is_padding[:shown]],
                records[shown:][~is_padding[shown:]],
            )
        ]

    def made(self) -> list[EpochReport]:
        """The report so far: one, or none before the first batch."""
        if not self._parts:
            return []
        shard = self._shards.of_epoch(self._began)
        lists = (
            tuple(np.concatenate([getattr(part, name) for part in self._parts]).tolist())
            for name in ("repeated", "borrowed", "dropped")
        )
        shown = sum(part.shown for part in self._parts)
        return [EpochReport(self._epoch, self._pipeline, shard, shown, *lists)]
