"""Slots whose pixels something still reads: given back when it is done, and not when Python lets go of them."""

from __future__ import annotations

from collections import deque
from typing import Protocol

__all__ = ["Event", "Releases"]


class Event(Protocol):
    """A mark in a GPU's work, such as `torch.cuda.Event`."""

    def query(self) -> bool:
        """Whether everything before it is done."""
        ...

    def synchronize(self) -> None:
        """Waits until it is."""
        ...


class Releases:
    """What waits for events: each entry holds a slot."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Event, object]] = deque()

    def add(self, after: Event, hold: object) -> None:
        """Keeps `hold` until the event is reached. Any thread may call it."""
        if not callable(getattr(after, "query", None)) or not callable(getattr(after, "synchronize", None)):
            raise TypeError(
                f"release(after={after!r}): give an event with query() and synchronize(), as torch.cuda.Event"
            )
        self._waiting.append((after, hold))

    def look(self) -> None:
        """Lets go of what is done."""
        for _ in range(len(self._waiting)):
            event, hold = self._waiting.popleft()
            if not event.query():
                self._waiting.append((event, hold))

    def wait(self, most: int) -> None:
        """Waits until at most so many are left."""
        self.look()
        while len(self._waiting) > most:
            event, _hold = self._waiting.popleft()
            event.synchronize()

    def __len__(self) -> int:
        return len(self._waiting)
