"""Rings of the host, page-locked in this process: a GPU copies from them at full speed, and nobody waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import _cuda

if TYPE_CHECKING:
    from forebay import _native

__all__ = ["Pins"]


class Pins:
    """The rings of a Loader that are page-locked, by their number."""

    def __init__(self, device: int) -> None:
        self._context = _cuda.context(device)
        self._pinned: dict[int, _cuda.Pinned | None] = {}

    def cover(self, rings: list[_native.Ring]) -> None:
        """Locks those that are new, and lets go of those that are no more.

        Raises:
            GpuError: One of them cannot be locked.
        """
        known, self._pinned = self._pinned, {}
        for ring in rings:
            # Pixels in a GPU need no copy; what is left in the slots is small.
            if ring.gpu is None and ring.number not in known:
                known[ring.number] = _cuda.Pinned(self._context, *ring.slots, ring)
            self._pinned[ring.number] = known.get(ring.number)

    def __contains__(self, number: int) -> bool:
        return number in self._pinned
