"""How long each test took, and the table of the slowest."""

from __future__ import annotations

import threading

from checks.output import say

SHOWN = 20


class Slowest:
    """Times of tests, collected from stages that may run side by side."""

    def __init__(self) -> None:
        self._times: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def add(self, seconds: float, test: str) -> None:
        """Takes the time of one test."""
        with self._lock:
            self._times.append((seconds, test))

    def show(self) -> None:
        """Prints the slowest tests, the slowest first. These are wall times: tests beside them count too."""
        if not self._times:
            return
        say(f"\nthe slowest {min(SHOWN, len(self._times))} of {len(self._times)} tests, in seconds:")
        for seconds, test in sorted(self._times, reverse=True)[:SHOWN]:
            say(f"{seconds:8.1f}  {test}")


SLOWEST = Slowest()
