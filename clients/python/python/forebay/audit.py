"""What happened to the records: the lines of the audit and of the quarantine."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EpochAudit", "QuarantinedRecord"]


class QuarantinedRecord(NamedTuple):
    """A record that could not be read or decoded.

    Attributes:
        record: Number of the record.
        file: Path of its file.
        reason: What was wrong with it the last time.
        epochs: The epochs in which it was bad.

    Example:
        >>> for bad in loader.quarantine:                                                       # doctest: +SKIP
        ...     print(bad.file, bad.reason)
    """

    record: int
    file: str
    reason: str
    epochs: tuple[int, ...]


class EpochAudit(NamedTuple):
    """How many records of one epoch were delivered, and what happened to the others.

    Attributes:
        epoch: Number of the epoch, from 0.
        delivered: Records that trainers acknowledged.
        dropped: Records that `last_batch_policy="drop"` left out.
        quarantined: Records that could not be read or decoded.
        abandoned: Records that `reset()` gave up.
        repeats: How many records may have been delivered twice, by cause: `daemon_died`, `lease_expired`,
            `daemon_stopped` (before its trainer was done), `trainer_ended`. Causes without such records are left out.
        complete: Whether every record has one of the fates above.
        adds_up: Whether the count and the checksum of all these records are those of the dataset's records, each once.
            None while the epoch is not complete. Also None with static shards, which `forebay audit` checks together.
        by_state: In lockstep, records before the step of a state that was loaded, without a receipt. The state says
            that they were delivered.

    Example:
        >>> for epoch in loader.audit():                                                        # doctest: +SKIP
        ...     assert epoch.adds_up is not False, epoch
    """

    epoch: int
    delivered: int
    dropped: int
    quarantined: int
    abandoned: int
    repeats: dict[str, int]
    complete: bool
    adds_up: bool | None
    by_state: int = 0
