"""One `for` over a Loader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Callable, TypeVar

if TYPE_CHECKING:
    from forebay import _native

__all__ = ["Epoch"]

_T = TypeVar("_T")


class Epoch(Iterator[_T]):
    """The rest of an epoch. It keeps no batch, so that a slot is free as soon as the caller drops its batch."""

    def __init__(self, session: _native.Session, draw: Callable[[], tuple[int, _T | None]]) -> None:
        self._session = session
        self._draw: Callable[[], tuple[int, _T | None]] | None = draw

    def __next__(self) -> _T:
        if self._draw is None:
            raise StopIteration
        number, batch = self._draw()
        self._session.taken = number  # Last of all: see `Feed.draw`.
        if batch is None:
            self._draw = None
            raise StopIteration
        return batch
