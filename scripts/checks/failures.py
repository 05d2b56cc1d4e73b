"""What failed, told once more at the end: in the middle of a long output nobody finds it."""

from __future__ import annotations

import threading

from checks.output import say

SHOWN_LINES = 60


class Failures:
    """Texts of failed tests, collected from stages that may run side by side."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, list[str]]] = []
        self._lock = threading.Lock()

    def add(self, test: str, lines: list[str]) -> None:
        """Takes what one failed test printed."""
        with self._lock:
            self._texts.append((test, lines))

    def show(self) -> None:
        """Prints the last lines of each."""
        for test, lines in self._texts:
            say(f"\nfailed: {test}")
            if len(lines) > SHOWN_LINES:
                say(f"    ({len(lines) - SHOWN_LINES} lines before these are in the output above)")
            for line in lines[-SHOWN_LINES:]:
                say(f"    {line}")


FAILURES = Failures()
