"""What can go wrong, as exceptions. Everything that Forebay itself raises is an `Error`.

A wait that takes longer than `timeout=` raises the built-in `TimeoutError`.
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
    "Outage",
    "RecordError",
    "SettingsError",
    "SlotsHeld",
    "StorageStalled",
]


class Error(Exception):
    """Base class of everything that Forebay raises."""


class AttachError(Error):
    """The daemon could not be reached or started, or it refused this trainer; the message says why."""


class SettingsError(AttachError, ValueError):
    """A setting is wrong, missing, or does not agree with the stream's; the message names each one."""


class DatasetError(AttachError):
    """The dataset is missing, empty, unreadable, or not the one that the run began with."""


class RecordError(Error):
    """A record could not be read or decoded, with `on_error="fail"`, or there were more than `max_failures`.

    The message names the record, its file and the reason. Every further `next()` raises it again.
    """


class EpochHeld(Error):  # noqa: N818 - the name that the rules of the project use
    """An epoch could not end within `epoch_end_timeout`, because somebody still holds one of its batches.

    Attributes:
        epoch: The epoch that waits.
        seq: Number of the batch.
        pid: Process that holds it.
        held_for: For how long, in seconds.
    """

    def __init__(self, message: str, epoch: int = 0, seq: int = 0, pid: int = 0, held_for: float = 0.0) -> None:
        super().__init__(message)
        self.epoch = epoch
        self.seq = seq
        self.pid = pid
        self.held_for = held_for


class Outage(Error):  # noqa: N818
    """The daemon died or went away and did not come back in time. Batches in hand stay valid."""


class SlotsHeld(Error):  # noqa: N818
    """Views of earlier batches fill every slot that this trainer may hold: keep `batch.copy()` instead of views."""


class StorageStalled(Error):  # noqa: N818
    """The dataset's storage has given nothing for longer than `storage_timeout`; the message says which file, and why.

    No record is lost: the daemon goes on trying, and the next `next()` waits on.
    """


class Evicted(Error):  # noqa: N818
    """The daemon has put this trainer out. Make a new Loader."""


class ForkError(Error):
    """A Loader or Batch was used in a forked child of the process that made it. Make a Loader there."""


class GpuError(Error):
    """The CUDA driver is missing or too old, or a call of it failed; the message names the call."""


class ClosedError(Error):
    """The Loader was closed."""
