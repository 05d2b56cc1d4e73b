"""What stages print. Stages that run side by side keep their lines until they end, so that each stage is one block."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_kept = threading.local()
_terminal = threading.Lock()


def say(text: str, end: str = "\n") -> None:
    """Prints a line, or keeps it for the stage that this thread runs."""
    lines = getattr(_kept, "lines", None)
    if lines is not None:
        lines.append(text + end)
        return
    with _terminal:
        print(text, end=end, flush=True)


@contextlib.contextmanager
def in_one_block() -> Iterator[None]:
    """Keeps what this thread says, and prints it as one block at the end."""
    outer = getattr(_kept, "lines", None)
    _kept.lines = []
    try:
        yield
    finally:
        block, _kept.lines = "".join(_kept.lines), outer
        if block:
            say(block, end="")
