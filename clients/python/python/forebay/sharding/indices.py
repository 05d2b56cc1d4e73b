"""Single records of a dataset's shards, for the workers of a data loader, which are processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from typing import Any

from forebay.errors import Error
from forebay.sharding.client import ShardingClient
from forebay.sharding.shard import TRAINING, Task

__all__ = ["IndexFeed", "IndexShardingClient"]

# Records that wait to be fetched: each worker of a loader has the next one at once.
_AHEAD = 64


class IndexFeed:
    """A queue of record numbers, filled by a thread of one process and read by any of its forked children.

    Args:
        fetch: Gives the next task, or None at the end of the data.
        is_current: Whether a task is of the state that the client is in. Others became nobody's by a restore.
    """

    def __init__(self, fetch: Callable[[], Task | None], is_current: Callable[[Task], bool]) -> None:
        self._fetch = fetch
        self._is_current = is_current
        self._queue: Any = multiprocessing.SimpleQueue()
        self._room = multiprocessing.Semaphore(_AHEAD)
        self._offering = threading.Lock()
        self._cleared = 0
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
        found = self._queue.get()
        if isinstance(found, int):
            self._room.release()
            return found
        # All others who ask hear it too.
        self._queue.put(found)
        if found is None:
            raise StopIteration
        raise Error(found)

    def clear(self) -> None:
        """Drops what waits in the queue."""
        with self._offering:
            self._cleared += 1
            while not self._queue.empty():
                if isinstance(self._queue.get(), int):
                    self._room.release()

    def _fill(self) -> None:
        is_over = False
        while not is_over:
            cleared = self._cleared
            try:
                task, why = self._fetch(), None
                is_over = task is None
                # `all` ends at the first record that nobody wants.
                all(self._offer(task, record) for record in (task.shard.records if task else ()))
            except Error as error:
                why, is_over = str(error), True
            with self._offering:
                # An end that was told before the client went back to a state is none.
                is_over = is_over and (why is not None or cleared == self._cleared)
                if is_over:
                    self._queue.put(why)
                    self._is_filling = False

    def _offer(self, task: Task, record: int) -> bool:
        """Puts a record into the queue as soon as there is room; not if its task is nobody's any more."""
        self._room.acquire()
        with self._offering:
            is_current = self._is_current(task)
            if is_current:
                self._queue.put(record)
            else:
                self._room.release()
        return is_current


class IndexShardingClient(ShardingClient):
    """A `ShardingClient` that gives the numbers of single records, also to forked processes.

    A thread fetches shards ahead. Make the client before the worker processes of a data loader are forked, call
    `fetch_sample_index()` in them, and report batches in the process that made the client.

    If several processes fetch records, batches may be done in another order than that of their records. The client
    cannot know
    that: it counts records in the order in which they were fetched. `forebay.sharding.torch.ShardSampler` keeps the
        order with
    any number of workers.

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
        super()._restore(checkpoint, load_id)
        self._feed.clear()
        self._feed.start()
