"""In which order a reader of DALI gives its samples. Pure.

A reader knows of no iterator. It goes on from shard to shard without end, and only cuts what it reads into batches that
are all full. The samples are those of a stream with static shards, epoch after epoch. With padding, some are repeated.
"""

from __future__ import annotations

from typing import NamedTuple

from forebay.dali.shards import Shards

__all__ = ["Reading", "Run"]


class Run(NamedTuple):
    """Samples that follow each other in a batch.

    Attributes:
        epoch: The stream's epoch that they come from.
        first: Place of the first of them in that epoch of the shard, from 0. Of padding, the place that is repeated.
        count: How many there are.
        is_padding: Whether all of them are copies of one sample.
    """

    epoch: int
    first: int
    count: int
    is_padding: bool


class Reading:
    """The state of a reader: where it is in its shard.

    Example:
        >>> reading = Reading(Shards(records=5, count=2, shard_id=0, stick=False, pad=True))
        >>> [tuple(run) for run in reading.batch(3)]
        [(0, 0, 2, False), (0, 1, 1, True)]
        >>> [tuple(run) for run in reading.batch(3)]
        [(1, 0, 3, False)]
    """

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._epoch = 0
        self._read = 0
        self._padded = 0

    def batch(self, size: int) -> list[Run]:
        """The runs of the next `size` samples."""
        runs: list[Run] = []
        place = 0
        while place < size:
            left = self._shards.size(self._shards.of_epoch(self._epoch)) - self._read
            if left > 0:
                run = Run(self._epoch, self._read, min(left, size - place), is_padding=False)
                self._read += run.count
            elif self._pads(place):
                run = Run(self._epoch, self._read - 1, size - place, is_padding=True)
                self._padded += run.count
            else:
                self._epoch += 1
                self._read = self._padded = 0
                continue
            runs.append(run)
            place += run.count
        return runs

    def _pads(self, place: int) -> bool:
        """Whether padding follows: up to the end of a batch, and in whole batches while larger shards have some."""
        return self._shards.pad and (place > 0 or self._read + self._padded < self._shards.most)
