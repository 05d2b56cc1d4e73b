"""Each lane alone and all together, in turn, through a daemon; and the bare engines that they are held against."""

from __future__ import annotations

import argparse
import os
import re
import resource
from pathlib import Path

from gpu.forebay import Forebay, many
from gpu.report import Results

LANES = {
    "hardware_lane": "hardware",
    "hybrid_lane": "hybrid",
    "cpu_lane": "cpu",
    "all_lanes": "hardware,cpu",
}
ENTRIES = 50_000


def run(forebay: Forebay, pictures: list[Path], options: argparse.Namespace, results: Results) -> None:
    """Measures; a lane that cannot be had is null with its reason."""
    with many(pictures, len(pictures)) as folder:
        try:
            text = forebay.says("doctor", "--measure", str(folder))
        except RuntimeError as error:
            results.absent("hardware_bare", str(error))
        else:
            rows = re.findall(r"bare hardware loop: (\d+) states, batches of (\d+): (\d+)", text)
            results.table("bare", [{"states": int(s), "batch": int(b), "rate": int(r)} for s, b, r in rows])
            results.rates("hardware_bare", [max(int(rate) for _, _, rate in rows)])
    rounds: dict[str, list[float]] = {name: [] for name in LANES}
    with many(pictures, ENTRIES) as folder:
        for _ in range(options.rounds):
            for name, lanes in LANES.items():
                _once(forebay, folder, name, lanes, options.seconds, rounds, results)
        # The CPU lane has the cores that feeding the engines leaves.
        cpu_seconds = results.cpu_seconds.get("hardware_lane")
        if cpu_seconds and rounds["hardware_lane"]:
            used = cpu_seconds * results.median(rounds["hardware_lane"]) / 1000
            left = max(1, len(os.sched_getaffinity(0)) - round(used))
            try:
                rest = _rate(forebay.says("bench", str(folder), "--lanes", "cpu", "--threads", str(left)))
            except RuntimeError as error:
                results.absent("lanes_sum", str(error))
            else:
                bare = results.images_per_second.get("hardware_bare") or results.median(rounds["hardware_lane"])
                results.rates("lanes_sum", [bare + rest])
    for name, rates in rounds.items():
        if rates:
            results.rates(name, rates)


def _once(
    forebay: Forebay,
    folder: Path,
    name: str,
    lanes: str,
    seconds: int,
    rounds: dict[str, list[float]],
    results: Results,
) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ("bench", str(folder), "--lanes", lanes, "--seconds", str(seconds), "--batch-size", "256")
    try:
        text = forebay.says(*command)
    except RuntimeError as error:
        results.absent(name, str(error))
        return
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rate = _rate(text)
    rounds[name].append(rate)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Starting and warming up are in the figure; they make it larger than it is.
    results.cpu_seconds[name] = used / (rate * seconds) * 1000


def _rate(text: str) -> float:
    found = re.search(r"^(\d+) pictures/s", text, re.M)
    if found is None:
        raise RuntimeError(f"forebay bench printed no rate: {text}")
    return float(found.group(1))
