"""How long something may take: an alarm ends whatever waits in Python, and with it the children that it waits for."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class OverError(Exception):
    """It took too long."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises `OverError` in the body once it has taken so many seconds. None stands in another; main thread only."""

    def over(*_: object) -> None:
        raise OverError(f"it took more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
