"""One `for` over a DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from forebay.torch.accelerated import Watched

__all__ = ["Iteration"]


class Iterated(Protocol):
    """The DataLoader whose iteration it is."""

    end_of_dataloader: bool

    def _next(self, iteration: int) -> Any:  # noqa: ANN401 - what `collate_fn` makes
        """The next batch of the iteration with this number."""


class Iteration(Iterator[Any]):
    """One `for` over a DataLoader. It keeps no batch."""

    def __init__(self, loader: Iterated, number: int) -> None:
        self._loader: Iterated | None = loader
        self._number = number
        self._watched: Watched | None = None

    def __next__(self) -> Any:  # noqa: ANN401 - what `collate_fn` makes
        loader = self._loader
        if loader is None:
            raise StopIteration
        if self._watched is None:
            loader.end_of_dataloader = False
            self._watched = Watched(loader)
        try:
            return loader._next(self._number)
        except StopIteration:
            self._loader = None
            self._watched.end(unseen=not loader.end_of_dataloader)
            raise
