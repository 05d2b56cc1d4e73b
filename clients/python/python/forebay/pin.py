"""Rings in the host that this process has page-locked. A GPU copies from them at full speed, and asynchronously."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay._cuda.context import Context, context
from forebay._cuda.memory import Pinned

if TYPE_CHECKING:
    from forebay import _native

__all__ = ["Pins"]


class Pins:
    """The page-locked rings of a Loader, by their number.

    Attributes:
        device: Number of the GPU for which they are locked.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self._context = context(device)
        self._pinned: dict[int, Pinned | None] = {}

    def cover(self, rings: list[_native.Ring]) -> None:
        """Locks rings that are new, and unlocks rings that are gone.

        Raises:
            GpuError: A ring cannot be locked. It is not tried again.
        """
        new = [ring for ring in rings if ring.number not in self._pinned]
        self._pinned = {ring.number: self._pinned.get(ring.number) for ring in rings}
        for ring in new:
            # Pixels in a GPU need no copy, and the rest of a slot is small.
            if ring.gpu is None:
                self._pinned[ring.number] = Pinned(self._context, ring)

    def context(self, number: int) -> Context | None:
        """Context of the GPU for which a ring is page-locked; None if the ring is not page-locked."""
        return None if self._pinned.get(number) is None else self._context
