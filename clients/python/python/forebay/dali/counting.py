"""When an epoch of a DALI iterator ends, and how much of each batch it shows. Pure.

An iterator counts samples, and does not look at them. So it has the same quirks as DALI's. `ReaderCount` counts by
what the readers say of their shards, and `SizeCount` by a number that the caller gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from forebay.dali.shards import Shards
from forebay.policy import LastBatchPolicy

__all__ = ["Count", "ReaderCount", "SizeCount"]


class Count(Protocol):
    """The count of an iterator."""

    @property
    def size(self) -> int:
        """Samples of an epoch, of each pipeline or of all together; -1 without end."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether the epoch is over. Then only `begin_next()` may follow."""
        ...

    def __len__(self) -> int:
        """Batches of an epoch, as the iterator's `len()`."""
        ...

    def advance(self) -> list[int] | None:
        """Counts one batch of each pipeline.

        Returns:
            How many samples each pipeline's batch shows; the list may have fewer entries than there are pipelines. None
            if the batches are left out, which ends the epoch.
        """
        ...

    def drops_next(self) -> bool:
        """Whether the next batch would be left out."""
        ...

    def begin_next(self) -> None:
        """Begins the next epoch."""
        ...


class ReaderCount:
    """Counts each pipeline's samples, by the shards of the readers.

    Args:
        readers: The shards of each pipeline's reader. They differ in `shard_id` alone.
        batch_size: Samples of a batch.
        policy: For the last batch.
    """

    def __init__(self, readers: Sequence[Shards], batch_size: int, policy: LastBatchPolicy) -> None:
        self._one = readers[0]
        self._ids = [reader.shard_id for reader in readers]
        self._batch_size = batch_size
        self._policy = policy
        self._carries = policy is LastBatchPolicy.FILL and not self._one.pad
        self._counted = 0
        # Of all shards, also of those that other processes read: how far their readers were into them when the epoch
        # began, and their sizes.
        self._ahead = [0] * self._one.count
        self._sizes = [self._one.size(shard) for shard in range(self._one.count)]
        if policy is LastBatchPolicy.DROP:
            self._size = self._one.records // self._one.count
        elif self._one.pad:
            self._size = self._one.most
        else:
            self._size = self._full(self._one.most)

    @property
    def size(self) -> int:
        """Samples of an epoch of one pipeline, as DALI counts them."""
        return self._size

    @property
    def is_over(self) -> bool:
        """Whether the epoch is over."""
        return self._counted >= self._size

    def __len__(self) -> int:
        if self._policy is LastBatchPolicy.DROP:
            return self._size // self._batch_size
        return -(-self._size // self._batch_size)

    def advance(self) -> list[int] | None:
        """See `Count.advance`."""
        before, drops = self._counted, self.drops_next()
        self._counted += self._batch_size
        if drops:
            return None
        if self._policy is not LastBatchPolicy.PARTIAL:
            return [self._batch_size] * len(self._ids)
        left = (self._one.size(shard) - before for shard in self._ids)
        return [max(min(samples, self._batch_size), 0) for samples in left]

    def drops_next(self) -> bool:
        """See `Count.drops_next`."""
        least = self._one.records // self._one.count
        return self._policy is LastBatchPolicy.DROP and self._counted + self._batch_size > least

    def begin_next(self) -> None:
        """Begins the next epoch. Without padding, FILL takes into account what was read ahead of it."""
        if not self._one.stick:
            self._ids = [(shard + 1) % self._one.count for shard in self._ids]
        if not self._carries:
            self._counted = 0
            return
        read = self._counted - min(self._ahead)
        self._ahead = [ahead + read - size for ahead, size in zip(self._ahead, self._sizes)]
        self._counted = min(self._ahead)
        if not self._one.stick:
            self._roll()
        self._size = self._full(max(size - ahead for size, ahead in zip(self._sizes, self._ahead)))
        if self._size <= 0:
            # All of that epoch was read ahead. DALI leaves it out, and forgets how far the readers are.
            self._ahead = [0] * self._one.count
            self._counted = 0
            self._roll()
            self._size = self._full(self._one.most)

    def _full(self, samples: int) -> int:
        """The samples of so many full batches."""
        return -(-samples // self._batch_size) * self._batch_size

    def _roll(self) -> None:
        # The readers turn the other way. This is as DALI has it.
        self._sizes = [self._sizes[-1], *self._sizes[:-1]]


class SizeCount:
    """Counts the samples of all pipelines together, up to a number that the caller gave.

    Args:
        size: Samples of an epoch; -1 without end.
        pipelines: Number of pipelines.
        batch_size: Samples of a batch.
        policy: For the last batch.
        padded: Whether the caller says that the reader pads. Otherwise an epoch takes into account what FILL has
            borrowed from it.
    """

    def __init__(self, size: int, pipelines: int, batch_size: int, policy: LastBatchPolicy, *, padded: bool) -> None:
        self._size = size
        self._pipelines = pipelines
        self._batch_size = batch_size
        self._policy = policy
        self._carries = policy is LastBatchPolicy.FILL and not padded
        self._counted = 0

    @property
    def size(self) -> int:
        """Samples of an epoch of all pipelines; -1 without end."""
        return self._size

    @property
    def is_over(self) -> bool:
        """Whether the epoch is over."""
        return 0 < self._size <= self._counted

    def __len__(self) -> int:
        if self._size < 0:
            raise TypeError("an iterator without reader_name and size has no end, and so no length")
        step = self._pipelines * self._batch_size
        return self._size // step if self._policy is LastBatchPolicy.DROP else -(-self._size // step)

    def advance(self) -> list[int] | None:
        """See `Count.advance`."""
        left, drops = self._size - self._counted, self.drops_next()
        self._counted += self._pipelines * self._batch_size
        if drops:
            return None
        if self._size < 0 or self._policy is not LastBatchPolicy.PARTIAL:
            return [self._batch_size] * self._pipelines
        whole, rest = divmod(min(left, self._pipelines * self._batch_size), self._batch_size)
        return [self._batch_size] * whole + [rest] * (rest > 0)

    def drops_next(self) -> bool:
        """See `Count.drops_next`."""
        step = self._pipelines * self._batch_size
        return self._policy is LastBatchPolicy.DROP and 0 < self._size < self._counted + step

    def begin_next(self) -> None:
        """See `Count.begin_next`."""
        self._counted = self._counted % self._size if self._carries and self._size > 0 else 0
