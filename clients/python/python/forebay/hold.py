"""A hold on a slot: it lasts until the GPU is done with the slot, also after Python has dropped all references."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from forebay._cuda.context import Context
from forebay._cuda.mark import Everything, mark

if TYPE_CHECKING:
    from forebay import _native
    from forebay.frameworks import Event
    from forebay.release import Releases

__all__ = ["HeldView", "Hold"]


class Hold:
    """Keeps a slot in use. When nothing in Python refers to the hold any more, `Releases` keeps the slot for the GPU.

    A hold is for one GPU. It does not wait for work of another one.
    """

    __slots__ = ("__weakref__", "_context", "_releases", "_slot")

    def __init__(self, context: Context, slot: object, releases: Releases) -> None:
        self._context = context
        self._slot = slot
        self._releases = releases
        weakref.finalize(self, _release_when_done, context, slot, releases).atexit = False

    def begin(self) -> int:
        """Keeps the slot until the GPU has finished all its work, even if this object is dropped first.

        Call it before work that reads the slot is queued, and `until` afterwards. If an exception or Ctrl-C comes in
        between, the slot stays in use.

        Returns:
            A number for `until`.
        """
        return self._releases.add(Everything(self._context), self._slot)

    def until(self, number: int, mark: Event) -> None:
        """Ends what `begin` began once the mark is reached."""
        self._releases.replace(number, mark)


class HeldView:
    """The memory of one array in a slot, for numpy. Arrays made of it keep the hold."""

    def __init__(self, view: _native.View, hold: Hold) -> None:
        self.__array_interface__: dict[str, Any] = view.__array_interface__
        self._keep = (view, hold)


def _release_when_done(context: Context, slot: object, releases: Releases) -> None:
    if context.is_forked():
        # The slot is the parent's. This child has only a copy of the hold.
        return
    # The slot is kept before the mark is made: that takes longer, and Python swallows a Ctrl-C that comes here.
    number = releases.add(Everything(context), slot)
    releases.replace(number, mark(context))
