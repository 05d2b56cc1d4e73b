"""What a process holds (memory, descriptors, threads), and whether that has grown over many looks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# Looks before this part of them are a start: caches fill, and pools reach their size.
WARM = 0.25
# What allocators may still take, as a part of what is held, and at least so many bytes.
PART, BYTES = 0.03, 8 << 20


class Held(NamedTuple):
    """What a process holds. Memory is its own: without files and without the ring that it shares."""

    memory: int
    descriptors: int
    threads: int


def held(pid: int) -> Held:
    """What a process holds now."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    memory = int(fields["RssAnon"].split()[0]) * 1024
    return Held(memory, len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"]))


def growth(looks: Sequence[Held]) -> list[str]:
    """What has grown from the first third of the looks, once it was warm, to the last third, in words.

    Raises:
        ValueError: There are fewer than 12 looks.
    """
    if len(looks) < 12:
        raise ValueError(f"{len(looks)} looks are too few to see a growth: run for longer")
    warm = looks[int(len(looks) * WARM) :]
    third = len(warm) // 3
    before, after = warm[:third], warm[-third:]
    found = []
    for name in Held._fields:
        first = max(getattr(look, name) for look in before)
        # The least: a peak at the end is no growth.
        last = min(getattr(look, name) for look in after)
        allowed = max(first * PART, BYTES) if name == "memory" else 0
        if last > first + allowed:
            found.append(f"{name} grew from at most {first:,} to at least {last:,}")
    return found
