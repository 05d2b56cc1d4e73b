"""JAX, as the trainer uses it beside a Loader. Arrays are made in `forebay.jax`."""

from __future__ import annotations

from typing import Protocol, cast

from forebay.frameworks.framework import Event, Framework

__all__ = ["Jax", "JaxArray"]


class JaxArray(Protocol):
    """What JAX has in place of events: a `jax.Array` is ready once everything that it was made of has been read."""

    def block_until_ready(self) -> object:
        """Waits until the array is ready."""
        ...


class Jax(Framework):
    """JAX: it starts CUDA with its first computation, and gives no hint before."""

    name = "jax"
    marks = "a jax.Array that was made of the batch"

    def uses_gpu(self) -> bool:
        """Whether JAX is imported."""
        return self.module is not None

    def ranks(self) -> tuple[int, int, str] | None:
        """Number of this process and of all, if `jax.distributed` is initialised."""
        if self.module is None or not self.module.distributed.is_initialized():
            return None
        return self.module.process_index(), self.module.process_count(), "jax.distributed"

    def event(self, mark: object) -> Event | None:
        """Any object that can be waited for as a `jax.Array` can."""
        return _Event(cast(JaxArray, mark)) if callable(getattr(mark, "block_until_ready", None)) else None


class _Event:
    """An event behind the work that makes an array."""

    def __init__(self, array: JaxArray) -> None:
        self._array = array

    def query(self) -> bool:
        is_ready = getattr(self._array, "is_ready", None)
        return is_ready is not None and is_ready()

    def synchronize(self) -> None:
        self._array.block_until_ready()
