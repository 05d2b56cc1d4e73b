"""The parts: what each measures, when it is ended, and in which of two calls on a machine that is lent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from gpu import bare, dali, draws, kills, lanes, peers, pixels, ring, sanitizer, soak, training, trials
from gpu.results import AbsentError
from gpu.task import Task

# Seconds that both calls together may take, with a look at the machine before each.
LOAN = 11 * 60
LOOK = 15


class Part(NamedTuple):
    """Its measurements, one after the other, the seconds after which it is ended, and its call, if it is in one."""

    measurements: tuple[Callable[[Task], None], ...]
    limit: int
    call: int | None = None


def _with_rings(measure: Callable[[Task, ring.Rings], None], *names: str) -> Callable[[Task], None]:
    """A measurement of streams; without what they take, these names are absent."""

    def measured(task: Task) -> None:
        try:
            ring.requirements()
        except AbsentError as reason:
            for name in names:
                task.results.absent(name, str(reason))
            task.results.write()
            return
        with ring.streams(task) as rings:
            measure(task, rings)

    return measured


# What is worth most comes first: a loan may end early.
PARTS = {
    "tests": Part((trials.run,), 75, 1),
    "bare": Part((bare.run,), 40, 1),
    "lanes": Part((lanes.run,), 125, 1),
    "rings": Part((_with_rings(ring.run, *ring.RATES, "copies"),), 50, 1),
    "kills": Part((kills.run,), 65, 1),
    "pixels": Part((pixels.run, draws.run), 50, 1),
    "dali": Part((dali.run,), 110, 2),
    "peers": Part((peers.run,), 55, 2),
    "training": Part((_with_rings(training.run, "training"),), 60, 2),
    "probe": Part((sanitizer.run,), 300),
    "soak": Part((soak.run,), 360),
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
