"""What became of the records: the audit's lines and the quarantine's."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EpochAudit", "QuarantinedRecord"]


class QuarantinedRecord(NamedTuple):
    """A record that could not be read or decoded.

    Attributes:
        record: Its number.
        file: Its file.
        reason: What was wrong with it when it was found last.
        epochs: The epochs in which it was found.
    """

    record: int
    file: str
    reason: str
    epochs: tuple[int, ...]


class EpochAudit(NamedTuple):
    """One epoch's records by what became of them.

    Attributes:
        epoch: The epoch.
        delivered: Acknowledged by trainers.
        dropped: Left out by `last_batch_policy="drop"`.
        quarantined: Could not be read or decoded.
        abandoned: Given up by `reset()`.
        repeats: How many records may have been seen twice, by cause: `daemon_died`, `lease_expired`,
            `daemon_stopped` before its trainer was done, `trainer_ended`. Causes without any are left out.
        complete: Every record is accounted for.
        adds_up: Whether count and checksum over all of them are those of the dataset's records, each once. None
            while the epoch is not complete, and for static shards: `forebay audit` tells there.
    """

    epoch: int
    delivered: int
    dropped: int
    quarantined: int
    abandoned: int
    repeats: dict[str, int]
    complete: bool
    adds_up: bool | None
