"""Prints how much of a stream's pace is left with functions in Python, with the goals."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import forebay
from bench_functions import WORK
from forebay import _command, transforms
from forebay.transforms.transform import Transform
from measuring.machine import cores_and_load

ROUNDS, SECONDS, PLACES = 5, 8.0, 64
BEFORE = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip()]
FUNCTIONS = {
    "without": None,
    "identity": transforms.Python("bench_functions:identity"),
    "8 ms of work": transforms.Python("bench_functions:works"),
    "identity, batches": transforms.Python("bench_functions:leaves", scope="batch"),
}


def main(folder: str | None = None) -> None:
    """Prints a row for each function: the median of rounds, which alternate."""
    with tempfile.TemporaryDirectory() as place:
        if folder is None:
            folder = place
            subprocess.run(
                [_command.binary(), "sample", folder, "--count", "2048"], check=True, stdout=subprocess.DEVNULL
            )
        print(cores_and_load(), flush=True)
        rates: dict[str, list[float]] = {name: [] for name in FUNCTIONS}
        for _ in range(ROUNDS):
            for name, function in FUNCTIONS.items():
                rates[name].append(rate(Path(folder), function))
    rows = {name: statistics.median(each) for name, each in rates.items()}
    plain, cores = rows["without"], len(os.sched_getaffinity(0))
    print(f"{'function':20}{'pictures/s':>12}{'of the stream':>15}{'goal':>8}")
    for name, found in rows.items():
        # What function and decode take of the cores, each alone, is what the stream could have.
        possible = cores / (cores / plain + WORK) if "work" in name else plain
        goal = {"without": "", "identity": "0.80", "8 ms of work": "0.95", "identity, batches": ""}[name]
        print(f"{name:20}{found:12,.0f}{found / possible:15.2f}{goal:>8}")


def rate(folder: Path, function: Transform | None) -> float:
    """Pictures in a second, once the stream has begun."""
    steps = BEFORE if function is None else [*BEFORE, function]
    # As the verdict tells, a slow function wants a process on each core.
    workers = len(os.sched_getaffinity(0)) if function is FUNCTIONS["8 ms of work"] else None
    with forebay.Loader(folder, batch_size=PLACES, transform=steps, shuffle=True, python_workers=workers) as loader:
        loader.next()
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            # None is the end of an epoch.
            if batch := loader.next():
                count += len(batch.records)
        return count / (time.perf_counter() - began)


if __name__ == "__main__":
    main(*sys.argv[1:])
