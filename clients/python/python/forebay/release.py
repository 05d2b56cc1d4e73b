"""Slots whose pixels something still reads: given back when it is done, and not when Python lets go of them."""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from typing import Protocol, Union

__all__ = ["CupyEvent", "Event", "JaxArray", "Mark", "Releases"]


class Event(Protocol):
    """A mark in a GPU's work, such as `torch.cuda.Event`."""

    def query(self) -> bool:
        """Whether everything before it is done."""
        ...

    def synchronize(self) -> None:
        """Waits until it is."""
        ...


class CupyEvent(Protocol):
    """The same as CuPy has it: `cupy.cuda.Event`."""

    @property
    def done(self) -> bool:
        """Whether everything before it is done."""
        ...

    def synchronize(self) -> None:
        """Waits until it is."""
        ...


class JaxArray(Protocol):
    """What JAX has in place of events: a `jax.Array` is there when all that it was made of has been read."""

    def block_until_ready(self) -> object:
        """Waits until it is."""
        ...


# Whatever says that slots are read no more.
Mark = Union[Event, CupyEvent, JaxArray]


class _OfCupy:
    """CuPy's event as others are."""

    def __init__(self, event: CupyEvent) -> None:
        self._event = event

    def query(self) -> bool:
        return self._event.done

    def synchronize(self) -> None:
        self._event.synchronize()


class _OfJax:
    """JAX's array as an event behind the work that makes it."""

    def __init__(self, array: JaxArray) -> None:
        self._array = array

    def query(self) -> bool:
        is_ready = getattr(self._array, "is_ready", None)
        return is_ready is not None and is_ready()

    def synchronize(self) -> None:
        self._array.block_until_ready()


class Releases:
    """What waits for events: each entry holds a slot. Any thread may call any of it.

    An entry goes only when its event was seen to be done: an event that fails, or a wait that is interrupted, leaves
    it. When nothing refers to this object any more, it waits for what is left.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Event, object]] = {}
        self._numbers = itertools.count()
        self._pid = os.getpid()
        # At the end of the process nothing is waited for: its work in the GPU ends with it.
        weakref.finalize(self, _finish_unheard, self._waiting, self._pid).atexit = False

    def add(self, after: Mark, hold: object) -> int:
        """Keeps `hold` until the mark is reached. Gives the entry's number."""
        number, event = next(self._numbers), _event(after)
        self._waiting[number] = (event, hold)
        return number

    def replace(self, number: int, after: Mark) -> None:
        """From now on an entry waits for another mark, unless it is gone already."""
        entry = self._waiting.get(number)
        if entry is not None:
            # If another thread waits for the old mark at the moment, it takes the entry out behind that.
            self._waiting[number] = (_event(after), entry[1])

    def look(self) -> None:
        """Lets go of what is done."""
        for number, (event, _hold) in list(self._waiting.items()):
            if event.query():
                self._waiting.pop(number, None)

    def wait(self) -> bool:
        """Waits for the oldest, and lets go of it. False where there is none."""
        return _wait(self._waiting)

    def finish(self) -> None:
        """Waits for all. In a forked child, in which nothing is its own, it only lets go of them."""
        _finish(self._waiting, self._pid)

    def __len__(self) -> int:
        return len(self._waiting)


def _event(after: Mark) -> Event:
    def has(*methods: str) -> bool:
        return all(callable(getattr(after, method, None)) for method in methods)

    if has("query", "synchronize"):
        return after
    if has("synchronize") and hasattr(after, "done"):
        return _OfCupy(after)
    if has("block_until_ready"):
        return _OfJax(after)
    raise TypeError(
        f"release(after={after!r}): give an event, with query() and synchronize() as torch.cuda.Event or with done and "
        "synchronize() as cupy.cuda.Event, or a jax.Array that was made of the batch"
    )


def _wait(waiting: dict[int, tuple[Event, object]]) -> bool:
    for number, (event, _hold) in list(waiting.items())[:1]:
        event.synchronize()
        waiting.pop(number, None)
        return True
    return False


def _finish(waiting: dict[int, tuple[Event, object]], pid: int) -> None:
    if os.getpid() != pid:
        waiting.clear()
    while _wait(waiting):
        pass


def _finish_unheard(waiting: dict[int, tuple[Event, object]], pid: int) -> None:
    # Whoever might be told of an event that fails is gone. The GPU does nothing more then.
    with contextlib.suppress(Exception):
        _finish(waiting, pid)
