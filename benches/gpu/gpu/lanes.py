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
    "hardware_single_lane": "hardware-single",
    "gpu_huffman_lane": "gpu-huffman",
    "hybrid_lane": "hybrid",
    "cpu_lane": "cpu",
    "all_lanes": "hardware,cpu",
}
ENTRIES = 50_000


def run(forebay: Forebay, pictures: list[Path], options: argparse.Namespace, results: Results) -> None:
    """Measures; a lane that cannot be had is null with its reason."""
    with many(pictures, len(pictures)) as folder:
        _bare(forebay, folder, options.rounds, results)
    rounds: dict[str, list[float]] = {name: [] for name in LANES}
    with many(pictures, ENTRIES) as folder:
        for _ in range(options.rounds):
            for name, lanes in LANES.items():
                _once(forebay, folder, name, lanes, options.seconds, rounds, results)
        _sum(forebay, folder, rounds["hardware_lane"], options, results)
    for name, rates in rounds.items():
        if rates:
            results.rates(name, rates)


def _bare(forebay: Forebay, folder: Path, times: int, results: Results) -> None:
    """The bare engines over states and batches; of each round the best pair counts."""
    rows, best = [], []
    for number in range(times):
        try:
            text = forebay.says("doctor", "--measure", str(folder))
        except RuntimeError as error:
            results.absent("hardware_bare", str(error))
            return
        found = re.findall(r"bare hardware loop: (\d+) states, batches of (\d+): (\d+)", text)
        rows += [{"round": number, "states": int(s), "batch": int(b), "rate": int(r)} for s, b, r in found]
        if not found:
            results.absent("hardware_bare", text.strip().splitlines()[-1])
            return
        best.append(max(float(rate) for _, _, rate in found))
    results.table("bare", rows)
    results.rates("hardware_bare", best)


def _sum(
    forebay: Forebay,
    folder: Path,
    hardware: list[float],
    options: argparse.Namespace,
    results: Results,
) -> None:
    """The bare engines, and the CPU lane on the cores that feeding them leaves, round by round."""
    bare = results.rounds.get("hardware_bare")
    cpu_seconds = results.cpu_seconds.get("hardware_lane")
    if not (bare and hardware and cpu_seconds):
        results.absent("lanes_sum", "it takes hardware_bare and hardware_lane")
        return
    used = cpu_seconds * results.median(hardware) / 1000
    left = max(1, len(os.sched_getaffinity(0)) - round(used))
    command = ("bench", str(folder), "--lanes", "cpu", "--threads", str(left), "--seconds", str(options.seconds))
    try:
        results.rates("lanes_sum", [rate + _rate(forebay.says(*command, "--batch-size", "256")) for rate in bare])
    except RuntimeError as error:
        results.absent("lanes_sum", str(error))


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
