"""Whether the other ranks of a job read a DataLoader too, of which each rank has a part."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Mapping
from typing import Any

from forebay import frameworks

__all__ = ["Company"]

_log = logging.getLogger("forebay")

# What the ranks' settings differ in.
_OF_RANK = ("shard_id", "rank")
_ALONE = (
    "rank {rank} has read this DataLoader to its end, and no other rank has begun to. Its part is 1 of {world}: "
    '{records} of {whole} records. If rank {rank} alone reads it, give sharding="dynamic" to read everything; or '
    "let all ranks iterate"
)


class Company:
    """Counts the ranks that read a DataLoader, in the store of `torch.distributed`, and warns of one that is alone.

    Nothing waits for another rank.

    Args:
        settings: All settings of the Loader. Those of other ranks differ in the rank alone.
        records: Records of the dataset.
    """

    def __init__(self, settings: Mapping[str, Any], records: int) -> None:
        same = sorted((key, repr(value)) for key, value in settings.items() if key not in _OF_RANK)
        digest = hashlib.sha256(repr((records, same)).encode()).hexdigest()[:16]
        self._key = f"forebay/readers/{digest}"
        self._records = records
        self._is_counted = self._is_over = False

    def begin(self) -> None:
        """This rank iterates."""
        if not self._is_counted:
            self._is_counted = True
            self._count(1)

    def end(self) -> None:
        """This rank has read an epoch to its end. Warns once if no other has begun one."""
        if self._is_over:
            return
        count, ranks = self._count(0), frameworks.ranks()
        self._is_over = True
        if count == 1 and ranks is not None and ranks[1] > 1:
            rank, world, _ = ranks
            part = self._records * (rank + 1) // world - self._records * rank // world
            _log.warning(_ALONE.format(rank=rank, world=world, records=part, whole=self._records))

    def _count(self, more: int) -> int | None:
        """Ranks that have begun, after so many more. None if there is no store that answers."""
        if frameworks.ranks() is None:
            return None
        from torch.distributed import distributed_c10d

        # The rank that has the store may have ended, and then there is no answer.
        with contextlib.suppress(RuntimeError, ValueError):
            return int(distributed_c10d._get_default_store().add(self._key, more))
        return None
