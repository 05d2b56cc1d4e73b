"""The exceptions. All of Forebay's own are subclasses of `Error`.

A wait that takes longer than `timeout=` raises the built-in `TimeoutError`.

Example:
    >>> try:                                                                                    # doctest: +SKIP
    ...     batch = loader.next()
    ... except forebay.StorageStalled as error:
    ...     print("still waiting:", error)
"""

from __future__ import annotations

__all__ = [
    "AttachError",
    "ClosedError",
    "DatasetError",
    "EpochHeld",
    "Error",
    "Evicted",
    "ForkError",
    "GpuError",
    "MissedBatches",
    "Outage",
    "PictureError",
    "RecordError",
    "SettingsError",
    "Skip",
    "SlotsHeld",
    "StorageStalled",
]


class Error(Exception):
    """Base class of Forebay's exceptions."""


class AttachError(Error):
    """The daemon could not be reached or started, or it refused this trainer. The message says why."""


class SettingsError(AttachError, ValueError):
    """A setting is wrong or missing, or it differs from the stream's. The message names every such setting."""


class DatasetError(AttachError):
    """The dataset is missing, empty, unreadable, or not the one that the run began with."""


class PictureError(Error, ValueError):
    """A picture cannot be decoded: it is damaged, no picture, or beyond a limit. The message names the file."""


class RecordError(Error):
    """A record is bad and `on_error="fail"`, or there are more than `max_failures` bad records.

    The message names the record, its file and the reason. Every further `next()` raises this error again.
    """


class EpochHeld(Error):  # noqa: N818 - the name that the rules of the project use
    """An epoch could not end within `epoch_end_timeout`, because a trainer or another node still has records of it.

    Attributes:
        epoch: The epoch that cannot end.
        seq: Number of the batch. 0 if another node has it.
        pid: Process that holds the batch. If another node has it, the daemon of that node.
        held_for: How long the epoch has waited for it, in seconds.
        node: Name of the other node. Empty if a trainer of this daemon holds the batch.
        host: Host of the other node's daemon.
    """

    def __init__(
        self,
        message: str,
        epoch: int = 0,
        seq: int = 0,
        pid: int = 0,
        held_for: float = 0.0,
        node: str = "",
        host: str = "",
    ) -> None:
        super().__init__(message)
        self.epoch = epoch
        self.seq = seq
        self.pid = pid
        self.held_for = held_for
        self.node = node
        self.host = host


class MissedBatches(Error):  # noqa: N818 - the name that the rules of the project use
    """Other groups consumed batches that this trainer's group did not get, because the daemon ended.

    It is raised once. The next call of `next()`, or a new `for` loop, continues in the same epoch. The missed
    batches are not delivered again.

    Attributes:
        epoch: The epoch of the batches.
        from_batch: Number of the first batch.
        to_batch: Number of the last batch.
        records: How many records of these batches the group has not had.
    """

    def __init__(self, message: str, epoch: int = 0, from_batch: int = 0, to_batch: int = 0, records: int = 0) -> None:
        super().__init__(message)
        self.epoch = epoch
        self.from_batch = from_batch
        self.to_batch = to_batch
        self.records = records


class Outage(Error):  # noqa: N818
    """The daemon or the coordinator ended, and did not come back in time. Batches and shards in hand stay valid.

    A function in a list of transforms raises it if something is down that it needs, such as a server. The record is not
    at fault: the function is called with it again, for as long as it takes.
    """


class Skip(Error):  # noqa: N818
    """A function in a list of transforms raises it, with the reason, to leave a record out.

    The record is bad, so `on_error` decides what takes its place. But `max_failures` does not count it.
    """


class SlotsHeld(Error):  # noqa: N818
    """This trainer keeps views of so many batches that it has no slot left. Keep `batch.copy()` instead of views."""


class StorageStalled(Error):  # noqa: N818
    """The dataset's storage has served nothing for longer than `storage_timeout`, a key of the stream (10 minutes).

    The message names a file and the reason. No record is lost: the daemon keeps trying, and the next call of `next()`
    waits again.
    """


class Evicted(Error):  # noqa: N818
    """The daemon has evicted this trainer, or another process has the name of this worker. Make a new one."""


class ForkError(Error):
    """A Loader, Batch or client was used in a forked child of the process that made it. Make a new one in the child."""


class GpuError(Error):
    """The CUDA driver is missing or too old, or a call of it failed. The message names the call."""


class ClosedError(Error):
    """The Loader or client is closed, or a batch has no slot any more."""
