"""The batches of one session: draws them, and frees the slots that they no longer need."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING

from forebay.batch import Batch
from forebay.errors import SlotsHeld
from forebay.given_numbers import seconds_of
from forebay.step_form import form_of_columns

if TYPE_CHECKING:
    from forebay import _native
    from forebay.called_here import CalledHere
    from forebay.page import LoaderPage
    from forebay.release import Releases
    from forebay.rings import Rings

__all__ = ["Feed"]


class Feed:
    """What a Loader and the loaders made of it share.

    Attributes:
        session: The attachment to the stream.
        rings: The stream's rings in this process.
        releases: Slots that a GPU still reads.
        page: The daemon's page in a browser.
        shared: The ranks of a job may share the stream, on any nodes.
        writable: Batches are copies of the caller's own.
        batch_size: Places of a batch. With buckets, those of the largest one.
        form: "buckets", "patches" or "ragged", if the shape of a batch is that of its step, and not that of the ring.
    """

    def __init__(
        self,
        session: _native.Session,
        rings: Rings,
        releases: Releases,
        page: LoaderPage,
        *,
        shared: bool,
        writable: bool,
        steps: CalledHere | None = None,
    ) -> None:
        self.session = session
        self._steps = steps
        self.shared = shared
        self.rings = rings
        self.releases = releases
        self.page = page
        self.writable = writable
        ring = session.rings()[0]
        self.batch_size = ring.images[0][0]
        self.form = form_of_columns(name for name, *_ in ring.columns)
        self._lent: list[weakref.ref[Batch]] = []
        # Slots of this trainer. There may be others after a change of the rings, and only then.
        self._slots = session.credits()

    def draw(self, timeout: float | None = None) -> tuple[int, Batch | None]:
        """The next batch, or None at the epoch's end, and a number.

        The caller stores the number in `session.taken` right before it returns the batch to the user. Until then the
        batch does not count as handed out: after any exception, the next call draws it again. No exception can come
        between that store and a `return`. CPython looks for signals, and for exceptions of other threads, only after
        calls and at the end of loops.
        """
        timeout = seconds_of(timeout)
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            self._make_room()
            try:
                number, native, ring_changes = self.session.next(timeout)
                break
            except SlotsHeld:
                # Another thread may have dropped arrays meanwhile. Their slots wait for the GPU, and only this loop
                # looks after them.
                if not self.releases:
                    raise
            timeout = None if until is None else max(until - time.monotonic(), 0)
        if native is None:
            return number, None
        # In a `for`, the last batch is still bound when the next one is drawn: one slot is not enough for both.
        copied = self._slots < 2
        if ring_changes != self.rings.changes and self.rings.follow(self.session, ring_changes):
            self._slots = self.session.credits()
        batch = self._batch(native, copied=copied)
        self._lent.append(weakref.ref(batch))
        return number, batch

    def pin(self, device: int | None) -> None:
        """Page-locks the rings, also for the batches that the caller has already."""
        self.rings.pin(device, self.session.rings())
        for lent in self._lent:
            batch = lent()
            if batch is not None:
                batch._hold_by(self.rings)

    def close(self) -> None:
        """Waits for the GPU, and ends the session."""
        try:
            self.let_go(keep=0)
            self.releases.finish()
        finally:
            self.page.close()
            self.session.close()
            if self._steps is not None:
                self._steps.close()

    def let_go(self, *, keep: int) -> None:
        """Takes the slots from all Batch objects but the newest `keep`. Arrays made of them still use their slots."""
        alive = [lent for lent in self._lent if lent() is not None]
        self._lent = alive[len(alive) - keep :] if keep < len(alive) else alive
        for lent in alive[: len(alive) - len(self._lent)]:
            batch = lent()
            if batch is not None:
                batch._let_go()

    def _make_room(self) -> None:
        """Waits for the GPU if its work holds the slot of the next batch.

        It does nothing in most calls, and each call of `next()` comes here.
        """
        # Variables often keep a batch longer than its loop. The newest batches stay, and leave a slot for the next one.
        if len(self._lent) >= self._slots:
            self.let_go(keep=self._slots - 1)
        if self.releases.waiting:
            self.releases.look()
            while self.session.viewed() >= self._slots and self.releases.wait():
                pass

    def _batch(self, native: _native.Batch, *, copied: bool) -> Batch:
        in_host = self.rings.synchronous or native.gpu_images is None
        ragged = self.form == "ragged"
        if in_host and (copied or self.writable):
            return Batch(native, ragged=ragged).copy()
        if self.rings.synchronous:
            return Batch(native, self.releases, ragged=ragged)
        hold = self.rings.hold(native)
        batch = Batch(native, self.releases, hold, self.rings.pixels(native, hold), ragged=ragged)
        return batch.copy() if self.writable else batch
