"""The rings of a Loader in this process: which are mapped from a GPU, and which are page-locked."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from forebay import frameworks
from forebay._cuda.remains import try_again
from forebay.errors import GpuError, SettingsError
from forebay.gpu import GpuRings
from forebay.hold import Hold
from forebay.pin import Pins

if TYPE_CHECKING:
    from forebay import _native
    from forebay.gpu import GpuArray
    from forebay.release import Releases

__all__ = ["Rings"]

_log = logging.getLogger("forebay")


class Rings:
    """The rings of a Loader, and which GPU reads their slots.

    Attributes:
        synchronous: No GPU reads a slot asynchronously: no ring is mapped from a GPU or page-locked.
        changes: The session's count of ring changes when the rings were last looked at.
    """

    def __init__(self, releases: Releases) -> None:
        self._releases = releases
        self._gpu = GpuRings()
        self._pins: Pins | None = None
        self.synchronous = True
        self.changes = -1

    @property
    def device(self) -> int | None:
        """Number in this process of the GPU that has the pixels; None if they are in the host."""
        return self._gpu.device

    def follow(self, session: _native.Session, changes: int) -> bool:
        """Maps and page-locks new rings, and lets go of rings that the daemon has retired.

        A ring that cannot be page-locked is used as it is, with a warning.

        Args:
            session: Whose rings they are.
            changes: How often its rings have changed.

        Returns:
            Whether there were other rings the last time.

        Raises:
            GpuError: A ring cannot be mapped.
        """
        if changes == self.changes:
            return False
        # For what was dropped while a graph was captured. Not with every batch: a wait may break a capture.
        try_again()
        rings = session.rings()
        self._gpu.cover(rings)
        if self._pins is not None:
            try:
                self._pins.cover(rings)
            except GpuError as error:
                # Only the text is logged: the error's traceback refers to the batch, and a log handler may keep it.
                _log.warning(
                    "the new ring is not page-locked, so copies from it to the GPU are not asynchronous: %s", str(error)
                )
        self.synchronous = self._pins is None and self._gpu.device is None
        self.changes = changes
        return True

    def pin(self, device: int | None, rings: list[_native.Ring]) -> None:
        """Page-locks these rings and all later ones. A second call does nothing.

        Raises:
            GpuError: A ring cannot be locked.
            SettingsError: The rings are locked for another GPU.
        """
        if self._pins is not None and device not in (None, self._pins.device):
            raise SettingsError(
                f"pin(device={device}): the ring is page-locked for GPU {self._pins.device} already, and cannot be "
                f"locked twice. Call pin({device}) before any other pin(). If the Loader has pin_memory=True, call "
                f"torch.cuda.set_device({device}) before you make the Loader"
            )
        if self._pins is None:
            pins = Pins(frameworks.current_device() if device is None else device)
            pins.cover(rings)
            self._pins = pins
            self.synchronous = False

    def hold(self, native: _native.Batch) -> Hold | None:
        """A hold on a batch's slot, if a GPU may read the slot asynchronously: its ring is mapped or page-locked.

        From other memory of the host, CUDA copies before the call returns.
        """
        context = self._gpu.context(native.ring)
        if context is None and self._pins is not None:
            context = self._pins.context(native.ring)
        return None if context is None else Hold(context, native, self._releases)

    def pixels(self, native: _native.Batch, hold: Hold | None) -> GpuArray | None:
        """The images of a batch, if they are in memory of a GPU."""
        view = native.gpu_images
        return None if view is None or hold is None else self._gpu.array(view, hold)
