"""DALI's shards: which part of a list of records each of them is. Pure."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Shards"]


class Shards(NamedTuple):
    """How a reader shares its records, and which share it begins with.

    Attributes:
        records: Number of records.
        count: Number of shards, at most `records`.
        shard_id: The shard of the first epoch, from 0.
        stick: Whether each epoch has the same shard. Otherwise epoch e has shard `(shard_id + e) % count`.
        pad: Whether the reader repeats a shard's last record, so that all shards have the same number of batches.
    """

    records: int
    count: int
    shard_id: int
    stick: bool
    pad: bool

    @property
    def most(self) -> int:
        """Records of the largest shard."""
        return -(-self.records // self.count)

    def size(self, shard: int) -> int:
        """Records of a shard."""
        return (shard + 1) * self.records // self.count - shard * self.records // self.count

    def of_epoch(self, epoch: int) -> int:
        """The shard that the reader has in an epoch of the stream."""
        return self.shard_id if self.stick else (self.shard_id + epoch) % self.count

    def meta(self) -> dict[str, int]:
        """What DALI calls the metadata of a reader."""
        return {
            "epoch_size": self.records,
            "epoch_size_padded": self.most * self.count if self.pad else self.records,
            "number_of_shards": self.count,
            "shard_id": self.shard_id,
            "pad_last_batch": int(self.pad),
            "stick_to_shard": int(self.stick),
        }
