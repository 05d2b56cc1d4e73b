"""Slots that a GPU may still read. They return to the daemon when the GPU is done, not when Python drops them."""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref

from forebay.frameworks import Event, Mark, event_of

__all__ = ["Releases"]


class Releases:
    """Slots that wait for marks in a GPU's work. All methods are thread-safe.

    An entry is removed only when its mark is known to be reached. It stays if the mark fails, or if the wait is
    interrupted. When nothing refers to this object any more, it waits for the entries that are left.

    Attributes:
        waiting: Marks and slots by the numbers of their entries. Only this class changes it.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, tuple[Event, object]] = {}
        self._numbers = itertools.count()
        self._pid = os.getpid()
        # At the end of the process there is nothing to wait for: the process's work in the GPU ends with it.
        weakref.finalize(self, _finish_quietly, self.waiting, self._pid).atexit = False

    def add(self, after: Mark, slot: object) -> int:
        """Keeps `slot` until the mark is reached.

        Returns:
            The entry's number.

        Raises:
            TypeError: `after` is not a mark of any framework.
        """
        number, event = next(self._numbers), event_of(after)
        self.waiting[number] = (event, slot)
        return number

    def replace(self, number: int, after: Mark) -> None:
        """Makes an entry wait for another mark, unless it was removed already."""
        entry = self.waiting.get(number)
        if entry is not None:
            # If another thread is waiting for the old mark now, it removes the entry after this.
            self.waiting[number] = (event_of(after), entry[1])

    def look(self) -> None:
        """Removes the entries whose marks are reached. Does not wait."""
        for number, (event, _slot) in list(self.waiting.items()):
            if event.query():
                self.waiting.pop(number, None)

    def wait(self) -> bool:
        """Waits for the oldest entry and removes it. False if there is none."""
        return _wait(self.waiting)

    def finish(self) -> None:
        """Waits for all entries. In a forked child it drops them, since they are the parent's."""
        _finish(self.waiting, self._pid)

    def __len__(self) -> int:
        return len(self.waiting)


def _wait(waiting: dict[int, tuple[Event, object]]) -> bool:
    for number, (event, _slot) in list(waiting.items())[:1]:
        event.synchronize()
        waiting.pop(number, None)
        return True
    return False


def _finish(waiting: dict[int, tuple[Event, object]], pid: int) -> None:
    if os.getpid() != pid:
        waiting.clear()
    while _wait(waiting):
        pass


def _finish_quietly(waiting: dict[int, tuple[Event, object]], pid: int) -> None:
    # An event that fails here has no caller to raise to. The GPU does no more work after such a failure.
    with contextlib.suppress(Exception):
        _finish(waiting, pid)
