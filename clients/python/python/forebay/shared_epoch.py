"""The epoch of a dataset that several processes read: one number for all of them, also for running workers."""

from __future__ import annotations

import logging
import multiprocessing.context
import multiprocessing.sharedctypes
from collections.abc import Sequence

__all__ = ["SharedEpoch"]

_log = logging.getLogger("forebay")

# Places of the shared numbers.
_EPOCH, _MADE, _IS_SET, _IS_WARNED = range(4)


class SharedEpoch:
    """An epoch in memory that forked and spawned processes share.

    It also counts the items that are made, without a lock. If processes count at the same moment, some may be missed.
    So there are at least as many items as it has counted.
    """

    __slots__ = ("_shared",)

    def __init__(self, numbers: Sequence[int] = (0, 0, 0, 0)) -> None:
        self._shared = multiprocessing.sharedctypes.RawArray("q", numbers)

    @property
    def number(self) -> int:
        """The epoch; 0 at first."""
        return int(self._shared[_EPOCH])

    def set(self, epoch: int) -> None:
        """Sets the epoch for all processes."""
        self._shared[_EPOCH] = epoch
        self._shared[_IS_SET] = 1

    def count(self, items: int, dataset: object) -> None:
        """Counts an item that was made. Warns once if an epoch has fewer, and nobody has set an epoch."""
        shared = self._shared
        if shared[_IS_SET] or shared[_IS_WARNED]:
            return
        shared[_MADE] += 1
        if shared[_MADE] > items:
            shared[_IS_WARNED] = 1
            _log.warning(
                "%r: more pictures were made than an epoch has, and set_epoch() was never called. So each epoch "
                "repeats the random choices of epoch 0. Call dataset.set_epoch(epoch) before each epoch: that of the "
                "sampler does not reach the dataset. Without seed=, choices differ each time.",
                dataset,
            )

    def __getstate__(self) -> object:
        # Shared memory can only be given to a process that is being started. Any other copy has an epoch of its own.
        is_spawning = multiprocessing.context.get_spawning_popen() is not None
        return self._shared if is_spawning else tuple(self._shared)

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple):
            self.__init__(state)  # type: ignore[misc]
        else:
            self._shared = state
