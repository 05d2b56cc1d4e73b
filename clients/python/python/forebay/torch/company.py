"""Whether the other ranks of a job read a DataLoader too, of which each rank has a part."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Mapping
from typing import Any

from forebay import frameworks

__all__ = ["Company"]

_log = logging.getLogger("forebay")

# What the ranks' settings differ in.
_OF_RANK = ("shard_id", "rank")
_ALONE = (
    "rank {rank} alone has read a DataLoader to its end: the other ranks have gone on without it. Its part is 1 of "
    '{world}: {records} of {whole} records. If rank {rank} alone reads it, give sharding="dynamic" to read everything; '
    "or let all ranks iterate"
)
# What a process that ends adds to its iterations: it begins no other one.
_OVER = 1 << 40
# How long the end of a process waits for ranks that have not begun what this one has read, and how often it looks.
_PATIENCE, _PAUSE = 5.0, 0.05


class Company:
    """Counts the ranks that read a DataLoader, in the store of `torch.distributed`, and warns of one that is alone.

    All ranks run one program, so they begin their iterations in the same order. A rank that has begun as many as this
    one had, and not this DataLoader, has left it out. A rank with fewer is only slower, and nothing is said of it. The
    same is looked at again when this rank begins or ends another iteration, and when its process ends.

    Nothing waits for another rank, but for the end of a process that has read alone: it waits for some seconds.

    Args:
        settings: All settings of the Loader. Those of other ranks differ in the rank alone.
        records: Records of the dataset.
    """

    def __init__(self, settings: Mapping[str, Any], records: int) -> None:
        same = sorted((key, repr(value)) for key, value in settings.items() if key not in _OF_RANK)
        digest = hashlib.sha256(repr((records, same)).encode()).hexdigest()[:16]
        self._key = f"forebay/readers/{digest}"
        self._records = records
        self._iteration: int | None = None
        self._is_over = False
        # Also a rank that never iterates tells that its process ends.
        _Job.of_process()

    def begin(self) -> None:
        """This rank iterates."""
        job = _Job.of_process()
        if job is None:
            return
        job.read(self._key)
        iteration = job.begin()
        if self._iteration is None:
            self._iteration = iteration
        job.look()

    def end(self) -> None:
        """This rank has read an epoch to its end. It is warned once if the others have left the DataLoader out."""
        job = _Job.of_process()
        if job is None or self._iteration is None:
            return
        if not self._is_over:
            self._is_over = True
            job.pending.append(self)
        job.look()

    def is_judged(self, job: _Job) -> bool:
        """Whether it is known that another rank reads it, or that none does. The latter is said."""
        # The iterations first: a rank counts as a reader before it counts its iteration.
        others_are_past = job.are_past(self._iteration or 0)
        if job.add(self._key, 0) != 1:
            return True
        if others_are_past:
            rank, world = job.rank, job.world
            part = self._records * (rank + 1) // world - self._records * rank // world
            _log.warning(_ALONE.format(rank=rank, world=world, records=part, whole=self._records))
        return others_are_past


class _Job:
    """The ranks of this process's job, by their store, and what this rank has read without knowing of the others."""

    _ours: _Job | None = None

    def __init__(self, store: Any, rank: int, world: int) -> None:  # noqa: ANN401 - a store of torch
        self._store = store
        self.rank, self.world = rank, world
        self.pending: list[Company] = []
        self._read: set[str] = set()
        self._process = os.getpid()
        atexit.register(self._end)

    @classmethod
    def of_process(cls) -> _Job | None:
        """The job, from the first DataLoader that is read in a process group. None if there is no group."""
        ranks = frameworks.ranks()
        if ranks is not None and ranks[1] > 1:
            from torch.distributed import distributed_c10d

            with contextlib.suppress(RuntimeError, ValueError):
                store = distributed_c10d._get_default_store()
                if cls._ours is None or cls._ours._store is not store:
                    cls._ours = cls(store, ranks[0], ranks[1])
        return cls._ours

    def add(self, key: str, more: int) -> int | None:
        """A counter of all ranks, after so many more. None if the store does not answer."""
        # The rank that has the store may have ended, and then there is no answer.
        with contextlib.suppress(RuntimeError, ValueError):
            return int(self._store.add(key, more))
        return None

    def read(self, key: str) -> None:
        """Counts this rank once among the readers of a DataLoader, however often the program makes it."""
        if key not in self._read:
            self._read.add(key)
            self.add(key, 1)

    def begin(self, more: int = 1) -> int | None:
        """Counts an iteration of this rank, and gives its number, from 1."""
        return self.add(f"forebay/iterations/{self.rank}", more)

    def are_past(self, iteration: int) -> bool:
        """Whether all other ranks have begun as many iterations."""
        others = (self.add(f"forebay/iterations/{rank}", 0) for rank in range(self.world) if rank != self.rank)
        return all(begun is not None and begun >= iteration for begun in others)

    def look(self) -> None:
        """Looks again for the other readers of what this rank has read."""
        self.pending = [company for company in self.pending if not company.is_judged(self)]

    def _end(self) -> None:
        if os.getpid() != self._process:
            # A forked process is no rank.
            return
        self.begin(_OVER)
        self.look()
        until = time.monotonic() + _PATIENCE
        while self.pending and time.monotonic() < until:
            time.sleep(_PAUSE)
            self.look()
