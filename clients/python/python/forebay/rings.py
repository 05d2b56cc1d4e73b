"""What this process has of a Loader's rings: memory of a GPU that is mapped here, and page-locked slots."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from forebay import _cuda
from forebay._remains import try_again
from forebay.errors import GpuError, SettingsError
from forebay.gpu import GpuRings
from forebay.lease import Lease
from forebay.pin import Pins

if TYPE_CHECKING:
    from forebay import _native
    from forebay.gpu import GpuArray
    from forebay.release import Releases

__all__ = ["Rings"]

_log = logging.getLogger("forebay")


class Rings:
    """The rings of a Loader, and by which GPU their slots are read."""

    def __init__(self, releases: Releases) -> None:
        self._releases = releases
        self._gpu = GpuRings()
        self._pins: Pins | None = None
        # How often the session's rings had changed when they were last looked at.
        self._seen = -1

    @property
    def device(self) -> int | None:
        """Number of the GPU in which the pixels stand, in this process; None in the host."""
        return self._gpu.device

    def follow(self, session: _native.Session) -> None:
        """Maps and page-locks those that are new, and lets go of those that the daemon has retired.

        Raises:
            GpuError: One of them cannot be mapped. One that cannot be page-locked is used as it is.
        """
        changes = session.ring_changes()
        if changes == self._seen:
            return
        # What went while a graph was captured. Not with every batch: a wait may spoil a capture that goes on.
        try_again()
        rings = session.rings()
        self._gpu.cover(rings)
        if self._pins is not None:
            try:
                self._pins.cover(rings)
            except GpuError as error:
                # Its text alone: whoever keeps the record would keep the batch, by the error's traceback.
                _log.warning(
                    "the new ring is not page-locked, and copies from it to the GPU are waited for: %s", str(error)
                )
        self._seen = changes

    def pin(self, device: int | None, rings: list[_native.Ring]) -> None:
        """Page-locks these rings and all later ones, once and for all.

        Raises:
            GpuError: They cannot be locked.
            SettingsError: They are locked for another GPU.
        """
        if self._pins is not None and device not in (None, self._pins.device):
            raise SettingsError(
                f"pin(device={device}): the ring is page-locked for GPU {self._pins.device} already, and only once. "
                "With pin_memory=True that is the GPU that PyTorch uses when the Loader is made: choose it before "
                f"(torch.cuda.set_device), or leave pin_memory to the stream and call pin({device}) first. Copies to "
                "other GPUs need batch.release(after=event)"
            )
        if self._pins is None:
            pins = Pins(_cuda.current_device() if device is None else device)
            pins.cover(rings)
            self._pins = pins

    def lease(self, native: _native.Batch) -> Lease | None:
        """A hold on a batch's slot, where a GPU may read that behind Python's back: from a ring that it maps or locks.

        Out of any other memory of the host CUDA copies before the call comes back.
        """
        context = self._gpu.context(native.ring)
        if context is None and self._pins is not None:
            context = self._pins.context(native.ring)
        return None if context is None else Lease(context, native, self._releases)

    def pixels(self, native: _native.Batch, lease: Lease | None) -> GpuArray | None:
        """The images of a batch, where they stand in memory of a GPU."""
        view = native.gpu_images
        return None if view is None or lease is None else self._gpu.array(view, lease)
