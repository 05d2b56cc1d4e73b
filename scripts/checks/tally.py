"""Tests by how they ended, and the commands that are counted."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple

from checks.failures import FAILURES
from checks.output import say

ROOT = Path(__file__).resolve().parent.parent.parent


class Tally(NamedTuple):
    """Tests by how they ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: tuple[int, ...]) -> Tally:
        return Tally(*(a + b for a, b in zip(self, other)))


def lines_of(*command: str | Path, cwd: Path = ROOT, **extra: str) -> Iterator[str]:
    """Runs a command, line by line; the last item is its exit status. `extra` joins the environment."""
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **extra},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        yield from process.stdout
        yield f"exit {process.wait()}"


def check(*command: str | Path, **extra: str) -> Tally:
    """A command that passes or fails as a whole."""
    printed = []
    for line in lines_of(*command, **extra):
        if line == "exit 0":
            return Tally(passed=1)
        if line.startswith("exit "):
            FAILURES.add(" ".join(str(word) for word in command), printed)
            return Tally(failed=1)
        say(line, end="")
        printed.append(line.rstrip("\n"))
    raise AssertionError("a command's last line is its status")


def counted(lines: Iterator[str], read: Callable[[str], Tally]) -> Tally:
    """A command that counts its tests itself. If it fails without a failed test, it did not get as far as a test."""
    tally = Tally()
    for line in lines:
        if line.startswith("exit "):
            broken = line != "exit 0" and tally.failed == 0
            return tally + Tally(failed=int(broken))
        tally += read(line)
    raise AssertionError("a command's last line is its status")
