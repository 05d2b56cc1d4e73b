"""Rings of the host, page-locked in this process: a GPU copies from them at full speed, and nobody waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import _cuda

if TYPE_CHECKING:
    from forebay import _native

__all__ = ["Pins"]


class Pins:
    """The rings of a Loader that are page-locked, by their number.

    Attributes:
        device: Number of the GPU that they are locked for.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self._context = _cuda.context(device)
        self._pinned: dict[int, _cuda.Pinned | None] = {}

    def cover(self, rings: list[_native.Ring]) -> None:
        """Locks those that are new, and lets go of those that are no more.

        Raises:
            GpuError: One of them cannot be locked; it is not tried again.
        """
        new = [ring for ring in rings if ring.number not in self._pinned]
        self._pinned = {ring.number: self._pinned.get(ring.number) for ring in rings}
        for ring in new:
            # Pixels in a GPU need no copy; what is left in the slots is small.
            if ring.gpu is None:
                self._pinned[ring.number] = _cuda.Pinned(self._context, ring)

    def context(self, number: int) -> _cuda.Context | None:
        """Of the GPU that the ring is page-locked for; None where it is not."""
        return None if self._pinned.get(number) is None else self._context
