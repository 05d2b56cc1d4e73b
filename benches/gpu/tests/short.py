"""Runs one part on the fake GPU, with everything as short as it goes: short.py PART PICTURES RESULTS."""

import importlib.util
import sys
from pathlib import Path

from gpu import parts, probe
from gpu.forebay import Forebay
from gpu.results import Results
from gpu.task import Lengths, Task

SHORT = Lengths(
    seconds=1,
    rounds=1,
    soak_seconds=4,
    batch=16,
    entries=64,
    warm=1,
    steps=2,
    settled_seconds=1,
    beside_seconds=3,
    epochs=1,
    bare_seconds=0.01,
)


def main(part, pictures, results):
    if importlib.util.find_spec("torch") is not None:
        import fake_torch

        fake_torch.install()
    forebay = Forebay.found()
    found = probe.run(forebay)
    figures = Results.opened(found.gpu, Path(results), found.conditions)
    task = Task(forebay, found, sorted(Path(pictures).iterdir()), SHORT, figures)
    parts.run(part, task)


if __name__ == "__main__":
    main(*sys.argv[1:])
