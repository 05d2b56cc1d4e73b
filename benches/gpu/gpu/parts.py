"""The parts: what each measures, in the order in which they are worth most, and how long they may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from gpu import bare, draws, kills, lanes, peers, pixels, ring, sanitizer, soak, training
from gpu.results import AbsentError
from gpu.task import Task

# Seconds after which a part is ended, whatever it does.
LIMIT = 8 * 60


class Part(NamedTuple):
    """Its measurements, one after the other, and the seconds that they usually take on a GPU."""

    measurements: tuple[Callable[[Task], None], ...]
    usual: int


def _rings(task: Task) -> None:
    """The rings' rates, and the training loop on the same streams."""
    try:
        ring.requirements()
    except AbsentError as reason:
        for name in (*ring.RATES, "copies", "training"):
            task.results.absent(name, str(reason))
        task.results.write()
        return
    with ring.streams(task) as rings:
        ring.run(task, rings)
        training.run(task, rings)


PARTS = {
    "lanes": Part((bare.run, lanes.run, pixels.run, draws.run), 450),
    "ring": Part((_rings, kills.run), 300),
    "peers": Part((peers.run,), 150),
    "probe": Part((sanitizer.run,), 300),
    "soak": Part((soak.run,), 330),
}


def run(name: str, task: Task) -> None:
    """Runs one. A measurement that raises leaves the others their turn."""
    results, begun = task.results, time.monotonic()
    results.failures.pop(name, None)
    for measure in PARTS[name].measurements:
        try:
            measure(task)
        except Exception as error:
            results.failed(name, f"{measure.__module__}: {type(error).__name__}: {error}")
        results.parts[name] = {"seconds": time.monotonic() - begun, "load": task.found.conditions["load"]}
        results.write()
