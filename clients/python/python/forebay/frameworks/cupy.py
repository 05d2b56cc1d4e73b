"""CuPy, as the trainer uses it beside a Loader."""

from __future__ import annotations

from typing import Protocol, cast

from forebay.frameworks.framework import Event, Framework

__all__ = ["Cupy", "CupyEvent"]


class CupyEvent(Protocol):
    """A mark in a GPU's work, such as `cupy.cuda.Event`."""

    @property
    def done(self) -> bool:
        """Whether all work before the mark is done."""
        ...

    def synchronize(self) -> None:
        """Waits until all work before the mark is done."""
        ...


class Cupy(Framework):
    """CuPy: it has no use but with a GPU."""

    name = "cupy"
    marks = "an event with done and synchronize(), such as cupy.cuda.Event"

    def uses_gpu(self) -> bool:
        """Whether CuPy is imported."""
        return self.module is not None

    def event(self, mark: object) -> Event | None:
        """Any object with the members of `cupy.cuda.Event`."""
        has_both = callable(getattr(mark, "synchronize", None)) and hasattr(mark, "done")
        return _Event(cast(CupyEvent, mark)) if has_both else None


class _Event:
    """CuPy's event under PyTorch's names."""

    def __init__(self, event: CupyEvent) -> None:
        self._event = event

    def query(self) -> bool:
        return self._event.done

    def synchronize(self) -> None:
        self._event.synchronize()
