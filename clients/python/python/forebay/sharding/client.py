"""A worker's view of a dataset's shards: what it has, and which of it is done."""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from forebay import frameworks
from forebay._native import TaskWorker
from forebay.errors import ForkError, SettingsError
from forebay.given_numbers import seconds_of
from forebay.sharding.place import place_of, worker_of
from forebay.sharding.shard import TRAINING, Shard, Task

__all__ = ["ShardingClient"]

_log = logging.getLogger("forebay")

# Of a state: its layout.
_VERSION = 1


class ShardingClient:
    """Gets shards of a dataset from a coordinator, and reports which of their records were used.

    It has the methods of DLRover's client of the same name. A thread sends heartbeats. If the process dies, its shards
    go to other workers when no heartbeat has come for a lease's time (30 s). A shard that is not reported for five
    minutes is given to another worker too. If the slowest shard took longer than a third of that, the limit is three
    times its time.

    Counts of records are matched to shards in the order in which the shards were fetched. So use the records in this
    order.

    A client belongs to the process that made it. Use in a forked child is refused.

    Args:
        dataset_name: Name of the dataset. All workers of a job give the same.
        batch_size: Records of a batch.
        num_epochs: How often each record is read. With 0 or None, another worker says what the dataset is, and this one
            waits until it has.
        dataset_size: Records of the dataset. 0 or None is as with `num_epochs`.
        shuffle: Whether the order is random. With `storage_type="text"` that of records, otherwise that of shards.
        task_type: What the tasks are for.
        num_minibatches_per_shard: Batches of a shard. With 0, the coordinator chooses.
        storage_type: `"table"`, `"text"`, or nothing. It only says what is shuffled.
        worker: Name of this worker, which no other one has. Left out: `FOREBAY_WORKER`, or the host with the process's
            number. With certificates, it must be a DNS name of this process's certificate.
        **place: `coordinator`, the address of the coordinator, or several with commas between them; `token_file`,
            `tls_ca`, `tls_certificate` and `tls_key`, as in `[coordinator]` of the configuration. Left out: the
            variables `FOREBAY_COORDINATOR`, `FOREBAY_TOKEN_FILE`, `FOREBAY_TLS_CA` and so on.

    Raises:
        SettingsError: An argument is wrong, or the dataset is known as another one.
        Outage: The coordinator did not answer for 15 s.
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
        *,
        worker: str | None = None,
        **place: str | os.PathLike[str] | None,
    ) -> None:
        if storage_type not in ("", "table", "text"):
            raise SettingsError(f'storage_type={storage_type!r}: give "table", "text" or nothing')
        shuffles_records = shuffle and storage_type == "text"
        self._join(
            dataset_name,
            batch_size,
            num_epochs,
            dataset_size,
            shuffles_records,
            shuffle and not shuffles_records,
            task_type,
            num_minibatches_per_shard,
            worker,
            place,
        )

    def _join(
        self,
        dataset_name: str,
        batch_size: int,
        num_epochs: int | None,
        dataset_size: int | None,
        shuffle: bool,
        shuffle_shards: bool,
        task_type: int,
        num_minibatches_per_shard: int,
        worker: str | None,
        place: Mapping[str, Any],
    ) -> None:
        self._dataset_name = dataset_name
        self._batch_size = batch_size
        self._num_epochs = num_epochs or 0
        self._dataset_size = dataset_size or 0
        self._task_type = task_type
        self._pid = os.getpid()
        self._lock = threading.RLock()
        # The shards that are not reported, in the order in which they were fetched.
        self._pending: dict[int, Task] = {}
        self._counts: dict[int, int] = {}
        self._failed: dict[int, str] = {}
        is_known = bool(self._num_epochs and self._dataset_size)
        dataset = (
            dataset_name,
            self._dataset_size if is_known else 0,
            batch_size,
            self._num_epochs,
            num_minibatches_per_shard,
            shuffle,
            shuffle_shards,
            task_type,
        )
        name, host = worker_of(worker, os.environ)
        try:
            self._native = TaskWorker.join(place_of(place, os.environ), name, host, dataset)
        except OverflowError as error:
            raise SettingsError(f"a number is negative or too large: {error}") from None
        # Also at the end of the interpreter.
        self._close = weakref.finalize(self, self._native.close)

    def fetch_shard(self) -> Shard | None:
        """The next shard, or None at the end of the data.

        It waits as long as other workers may give shards back, and during an outage of the coordinator. If all shards
        of the last epoch are out, and all workers that have some are waiting here, these workers get None too: they may
        have to use their records up before they can report them.

        Raises:
            Evicted: Another process has taken this worker's name.
        """
        task = self.get_task()
        return None if task is None else task.shard

    def get_task(self, timeout: float | None = None) -> Task | None:
        """As `fetch_shard`, with the shard's number and its epoch.

        Args:
            timeout: How long to wait, in seconds.

        Raises:
            Outage: The coordinator cannot be asked, and `timeout` is over.
            TimeoutError: There was no shard in time.
        """
        while (found := self._native.fetch(seconds_of(timeout))) is not None:
            restores, task_id, epoch, start, end, indices = found
            task = Task(task_id, Shard(self._dataset_name, start, end, indices), epoch, self._task_type, restores)
            with self._own():
                # Another thread may have gone back to a state meanwhile. The task is nobody's then.
                if self._is_current(task):
                    self._pending[task_id] = task
                    return task
        return None

    def _is_current(self, task: Task) -> bool:
        return task.restores == self._native.restores

    def get_current_task(self) -> Task | None:
        """The task whose records are counted next; None if there is none."""
        with self._own():
            return next(iter(self._pending.values()), None)

    def report_batch_done(self, batch_size: int | None = None, err_msg: str = "", task_ids: Iterable[int] = ()) -> bool:
        """Counts records as used. When this returns, shards that it has completed are counted durably.

        Args:
            batch_size: How many. Left out, or 0: those of a full batch, as in DLRover.
            err_msg: Why they could not be used. Their shards are then given out again when all their records are
                counted. At the third error of a shard, its records are in quarantine.
            task_ids: The tasks that they belong to. Left out: the tasks in the order in which they were fetched.

        Returns:
            Whether a shard is complete by this.
        """
        count = batch_size or self._batch_size
        is_complete = False
        with self._own():
            for task_id in list(task_ids) or list(self._pending):
                if count <= 0:
                    break
                task = self._pending.get(task_id)
                if task is None:
                    continue
                if err_msg:
                    self._failed[task_id] = err_msg
                left = len(task.shard) - self._counts.get(task_id, 0)
                if count < left:
                    self._counts[task_id] = len(task.shard) - left + count
                    break
                count -= left
                self._report(task, self._failed.get(task_id, ""))
                is_complete = True
        return is_complete

    def report_all_task_error(self, err_msg: str) -> None:
        """Reports that no shard of this worker could be used. They are given out again."""
        with self._own():
            for task in list(self._pending.values()):
                self._report(task, err_msg or "not said")

    def _report(self, task: Task, error: str) -> None:
        # First, because a report is carried out even if the wait for its answer is interrupted.
        for of_tasks in (self._pending, self._counts, self._failed):
            of_tasks.pop(task.task_id, None)
        is_own = self._native.report(task.task_id, error)
        if not is_own:
            shard = task.shard
            _log.warning(
                "the records %d to %d of %s were reported too late: another worker has got them. The audit counts them",
                shard.start,
                shard.end,
                shard.name,
            )

    def get_shard_checkpoint(self) -> str:
        """The state of all shards as JSON. Shards that workers have are not done in it."""
        return self._native.checkpoint()

    def restore_shard_from_checkpoint(self, shard_checkpoint: str) -> bool:
        """Goes back to a state of the shards. Also takes one of DLRover, if its shards were not shuffled.

        Shards that workers have are nobody's from then on. Call it in one worker, before the others fetch.

        Returns:
            False if it was refused. The log says why.
        """
        try:
            self._restore(shard_checkpoint or "{}", secrets.token_hex(16))
        except SettingsError as error:
            _log.warning("a checkpoint was refused: %s", error)
            return False
        return True

    def reset_dataset(self) -> None:
        """Goes back to the beginning of the first epoch."""
        self._restore("", secrets.token_hex(16))

    def state_dict(self) -> dict[str, Any]:
        """The state of all shards, for `load_state_dict()`. Shards that workers have are not done in it.

        Call it in one worker. Its size depends on what is outstanding, not on the dataset.
        """
        checkpoint = json.loads(self.get_shard_checkpoint())
        # Its lists of shards are for people.
        return {"version": _VERSION, "shards": {key: checkpoint[key] for key in ("dataset_name", "ledger")}}

    def load_state_dict(self, state: Mapping[str, Any], *, load_id: str | None = None) -> None:
        """Goes back to a state. Shards that workers have are nobody's from then on.

        Args:
            state: What `state_dict()` returned.
            load_id: If several workers load the state together: a text that is new for each load, and equal for all of
                them. The state is then loaded once. Left out: if `torch.distributed` has several ranks, the first one
                draws it.

        Raises:
            SettingsError: The state is of another dataset or version, or `load_id` was used for another state.
        """
        if state.get("version") != _VERSION or not isinstance(state.get("shards"), Mapping):
            raise SettingsError(f"this is no state of a sharding client of version {_VERSION}")
        name = state["shards"].get("dataset_name")
        if name != self._dataset_name:
            raise SettingsError(f"the state is of dataset {name!r}, and this client's is {self._dataset_name!r}")
        self._restore(json.dumps(state["shards"]), load_id or frameworks.common_id() or secrets.token_hex(16))

    def _restore(self, checkpoint: str, load_id: str) -> None:
        with self._own():
            self._native.restore(checkpoint, load_id)
            for of_tasks in (self._pending, self._counts, self._failed):
                of_tasks.clear()

    def _own(self) -> threading.RLock:
        """The lock, in the process that made the client. In a child, another thread may have held it at the fork."""
        if os.getpid() != self._pid:
            raise ForkError(
                f"the client was made in process {self._pid} and is used in process {os.getpid()}, its forked child; "
                "make a new one in the child"
            )
        return self._lock

    def get_minibatch_count_per_epoch(self) -> int:
        """Full batches of an epoch."""
        return self._dataset_size // self._batch_size

    def get_total_sample_num(self) -> int:
        """Records of all epochs."""
        return self._dataset_size * self._num_epochs

    def close(self) -> None:
        """Gives shards back that were not reported. Other workers get them at once."""
        self._close()

    def __enter__(self) -> ShardingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} belongs to its process: make one in each process")
