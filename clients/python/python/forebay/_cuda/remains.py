"""Mappings, memory and page locks that this process no longer needs, but a GPU may still use."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Callable

from forebay._cuda.context import Context
from forebay.errors import GpuError

__all__ = ["give_back", "try_again"]

# Statuses of calls that failed only because some thread is capturing a graph. They succeed after the capture.
_CAPTURES = range(900, 909)

# What could not be given back so far: the GPU's context, the steps that give it back, and what must live until then. An
# entry is taken out before its steps run, so that only one thread runs them.
_remains: deque[tuple[Context, Callable[[], object], object]] = deque()


def give_back(context: Context, steps: Callable[[], object], keep: object = None) -> None:
    """Waits for the GPU, then runs `steps` in its context.

    While a graph is being captured, nothing can wait for the GPU. The steps then run with the next call, or when the
    daemon changes a ring.

    Args:
        context: The GPU's context.
        steps: Gives something back to the driver. A `GpuError` that it raises is ignored.
        keep: Lives until the steps have run.
    """
    _remains.append((context, steps, keep))
    try_again()


def try_again() -> None:
    """Gives back everything whose GPU can be waited for now."""
    for _ in range(len(_remains)):
        try:
            remain = _remains.popleft()
        except IndexError:
            # Another thread took it.
            return
        context, steps, _keep = remain
        done = False
        try:
            done = _wait(context)
        finally:
            # A signal may have interrupted the wait.
            if not done:
                _remains.append(remain)
        if done:
            with contextlib.suppress(GpuError), context.current():
                steps()


def _wait(context: Context) -> bool:
    """Whether the GPU is done with all work of the context. A broken context, or a parent's, has none."""
    try:
        with context.current() as call:
            return call.ask("cuCtxSynchronize") not in _CAPTURES
    except GpuError:
        return True
