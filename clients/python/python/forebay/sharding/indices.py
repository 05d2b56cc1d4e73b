"""Single records of a dataset's shards, for the workers of a data loader, which are processes of their own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

from forebay.errors import Error
from forebay.sharding.client import ShardingClient
from forebay.sharding.shard import TRAINING, Task

__all__ = ["IndexFeed", "IndexShardingClient"]

# Records that wait to be fetched: each worker of a loader has the next one at once.
_AHEAD = 64
# How many clearings came before, and a record, or one of the two below.
_ITEM = struct.Struct("=Qq")
_END = -1
_FAILED = -2


class IndexFeed:
    """A queue of record numbers, filled by a thread of one process and read by any of its forked children.

    It is a pipe. Items of one small size are written and read whole, so no process needs a lock, and one that is killed
    leaves none behind.

    An item has the number of clearings before it. Whoever takes one that is older than the last clearing drops it. So
    clearing waits for nobody, and what another process puts back too late is nothing.

    Args:
        fetch: Gives the next task, or None at the end of the data.
        is_current: Whether a task is of the state that the client is in. Others became nobody's by a restore.
    """

    def __init__(self, fetch: Callable[[], Task | None], is_current: Callable[[Task], bool]) -> None:
        self._fetch = fetch
        self._is_current = is_current
        self._reader, self._writer = multiprocessing.Pipe(duplex=False)
        # Each item in the pipe has some of it, so writing never waits.
        self._room = multiprocessing.Semaphore(_AHEAD)
        self._offering = threading.Lock()
        # Shared without a lock: only this process writes them.
        self._cleared: Any = multiprocessing.Value("Q", 0, lock=False)
        self._why: Any = multiprocessing.Array("c", 2048, lock=False)
        self._is_filling = False
        self.start()

    def start(self) -> None:
        """Begins to fill the queue, unless that is being done."""
        with self._offering:
            if not self._is_filling:
                self._is_filling = True
                threading.Thread(target=self._fill, name="forebay-indices", daemon=True).start()

    def get(self) -> int:
        """The next record. In any process.

        Raises:
            StopIteration: There is none.
            Error: The client cannot go on.
        """
        cleared, found = self._take()
        while cleared != self._cleared.value:
            self._room.release()
            cleared, found = self._take()
        if found >= 0:
            self._room.release()
            return found
        # All others who ask hear it too.
        self._write(cleared, found)
        if found == _END:
            raise StopIteration
        raise Error(self._why.value.decode(errors="replace"))

    def _take(self) -> tuple[int, int]:
        cleared, found = _ITEM.unpack(os.read(self._reader.fileno(), _ITEM.size))
        return cleared, found

    def _write(self, cleared: int, item: int) -> None:
        os.write(self._writer.fileno(), _ITEM.pack(cleared, item))

    def clear(self) -> None:
        """Drops what waits in the queue."""
        with self._offering:
            self._cleared.value += 1

    @contextlib.contextmanager
    def restoring(self) -> Iterator[None]:
        """Drops what waits in the queue when the client has gone back to a state, and nothing of the new state."""
        with self._offering:
            yield
            self._cleared.value += 1
        self.start()

    def _fill(self) -> None:
        is_over = False
        while not is_over:
            cleared = self._cleared.value
            try:
                task, why = self._fetch(), None
                is_over = task is None
                # `all` ends at the first record that nobody wants.
                all(self._offer(task, record) for record in (task.shard.records if task else ()))
            except Error as error:
                why, is_over = str(error), True
            is_over = is_over and self._offer_end(why, cleared)

    def _offer(self, task: Task, record: int) -> bool:
        """Puts a record into the queue as soon as there is room; not if its task is nobody's any more."""
        self._room.acquire()
        with self._offering:
            return self._put(record, self._is_current(task))

    def _offer_end(self, why: str | None, cleared: int) -> bool:
        """Puts the end of the data into the queue, or why there is no more."""
        self._room.acquire()
        with self._offering:
            if why is None:
                # An end that was told before the client went back to a state is none.
                is_over = self._put(_END, cleared == self._cleared.value)
            else:
                self._why.value = why.encode()[: len(self._why) - 1]
                is_over = self._put(_FAILED, True)
            self._is_filling = not is_over
        return is_over

    def _put(self, item: int, is_wanted: bool) -> bool:
        """Uses room that was acquired, or gives it back."""
        if is_wanted:
            self._write(self._cleared.value, item)
        else:
            self._room.release()
        return is_wanted


class IndexShardingClient(ShardingClient):
    """A `ShardingClient` that gives the numbers of single records, also to forked processes.

    A thread fetches shards ahead. Make the client before the worker processes of a data loader are forked, call
    `fetch_sample_index()` in them, and report batches in the process that made the client.

    If several processes fetch records, batches may be done in another order than that of their records. The client
    cannot know that: it counts records in the order in which they were fetched. `forebay.sharding.torch.ShardSampler`
    keeps the order with any number of workers.

    Args:
        num_workers: Not used: any number of processes may fetch.

    The other arguments are those of `ShardingClient`.
    """

    def __init__(
        self,
        dataset_name: str,
        batch_size: int,
        num_epochs: int | None = None,
        dataset_size: int | None = None,
        shuffle: bool = False,
        task_type: int = TRAINING,
        num_minibatches_per_shard: int = 10,
        storage_type: str = "",
        num_workers: int = 1,  # noqa: ARG002 - of the signature that users know
        *,
        worker: str | None = None,
        **place: str | os.PathLike[str] | None,
    ) -> None:
        super().__init__(
            dataset_name,
            batch_size,
            num_epochs,
            dataset_size,
            shuffle,
            task_type,
            num_minibatches_per_shard,
            storage_type,
            worker=worker,
            **place,
        )
        self._feed = IndexFeed(self.get_task, self._is_current)

    def fetch_sample_index(self) -> int:
        """The next record, in this process or a forked child.

        Raises:
            StopIteration: The data has ended.
        """
        return self._feed.get()

    def clear_shard_queue(self) -> None:
        """Drops the records that were fetched ahead. Their shards stay with this worker."""
        self._feed.clear()

    def _restore(self, checkpoint: str, load_id: str) -> None:
        with self._feed.restoring():
            super()._restore(checkpoint, load_id)
