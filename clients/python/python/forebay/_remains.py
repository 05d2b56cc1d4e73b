"""What is to be given back to the CUDA driver, and a GPU may still use: mappings, memory and page locks."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING, Callable

from forebay.errors import GpuError

if TYPE_CHECKING:
    from forebay._cuda import Context

__all__ = ["give_back", "try_again"]

# Statuses of calls that failed because of a graph that is being captured, by whichever thread: all is well after it.
_CAPTURES = range(900, 909)

# What could not be waited for so far: the GPU's context, how it is given back, and what has to stay until then. One is
# taken out before it is given back, so that only one thread does that.
_remains: deque[tuple[Context, Callable[[], object], object]] = deque()


def give_back(context: Context, steps: Callable[[], object], keep: object = None) -> None:
    """Does the steps in this context, as soon as the GPU has done all that it was given.

    That is now, unless a graph is being captured: then nothing can be waited for, and it is tried again with the next
    that is to be given back, or when rings change.

    Args:
        context: Of the GPU.
        steps: May raise `GpuError`, of which nobody is told.
        keep: Is kept until they are done.
    """
    _remains.append((context, steps, keep))
    try_again()


def try_again() -> None:
    """Gives back what can be waited for by now."""
    for _ in range(len(_remains)):
        try:
            remain = _remains.popleft()
        except IndexError:
            # Another thread has it.
            return
        context, steps, _keep = remain
        done = False
        try:
            done = _wait(context)
        finally:
            # Also where a signal has ended the wait.
            if not done:
                _remains.append(remain)
        if done:
            with contextlib.suppress(GpuError), context.current():
                steps()


def _wait(context: Context) -> bool:
    """Whether nothing of the context is under way any more. Nothing is of one that is broken, or a parent's."""
    try:
        with context.current() as call:
            return call.ask("cuCtxSynchronize") not in _CAPTURES
    except GpuError:
        return True
