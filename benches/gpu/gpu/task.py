"""What a part is given: the binary, the pictures, how long and how often to measure, and where figures go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpu.forebay import Forebay
from gpu.probe import Found
from gpu.results import Results


@dataclass(frozen=True)
class Lengths:
    """How long and how often."""

    # Of one measurement, after its warming up.
    seconds: int = 4
    rounds: int = 2
    soak_seconds: int = 300
    # Pictures of a batch, and files of a folder, of rings and lanes.
    batch: int = 256
    entries: int = 50_000
    # Steps of a training loop before it is timed, and then.
    warm: int = 10
    steps: int = 20
    # Until a benchmark beside the loop runs at full rate, and how long it then does.
    settled_seconds: int = 5
    beside_seconds: int = 8
    # Of each bare loop.
    bare_seconds: float = 0.3
    # Epochs of random crops.
    epochs: int = 2


@dataclass(frozen=True)
class Task:
    """All that a part works with."""

    forebay: Forebay
    found: Found
    pictures: list[Path]
    lengths: Lengths
    results: Results
