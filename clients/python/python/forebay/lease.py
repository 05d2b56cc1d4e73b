"""A hold on a slot that a GPU may still read when nothing in Python refers to it any more."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from forebay import _cuda

if TYPE_CHECKING:
    from forebay import _native
    from forebay.release import Event, Releases

__all__ = ["Lease", "Leased"]


class Lease:
    """Holds a slot, and hands that on to whoever waits for the GPU once nothing in Python refers to it.

    It is of one GPU: work that another one was given is not waited for.
    """

    __slots__ = ("__weakref__", "_context", "_hold", "_releases")

    def __init__(self, context: _cuda.Context, hold: object, releases: Releases) -> None:
        self._context = context
        self._hold = hold
        self._releases = releases
        weakref.finalize(self, _release_when_done, context, hold, releases).atexit = False

    def begin(self) -> int:
        """Something is about to read the slot, also when this is gone, until the GPU has nothing to do.

        Gives a number for `until`. Whatever ends the caller in between, an exception or Ctrl-C, the slot is held.
        """
        return self._releases.add(_cuda.Everything(self._context), self._hold)

    def until(self, number: int, mark: Event) -> None:
        """What was begun ends where the mark is reached."""
        self._releases.replace(number, mark)


class Leased:
    """Memory of one array in a slot, for numpy, which keeps the lease for as long as an array of it lives."""

    def __init__(self, view: _native.View, lease: Lease) -> None:
        self.__array_interface__: dict[str, Any] = view.__array_interface__
        self._keep = (view, lease)


def _release_when_done(context: _cuda.Context, hold: object, releases: Releases) -> None:
    if context.is_forked():
        # What a child was given copies of is its parent's.
        return
    # First of all the slot is held: the mark takes longer, and Python reports a Ctrl-C that comes here to nobody.
    number = releases.add(_cuda.Everything(context), hold)
    releases.replace(number, _cuda.mark(context))
