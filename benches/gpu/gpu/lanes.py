"""Each lane alone and all together, in turn, through a daemon, and the sum that they are held against."""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import Any

from gpu.forebay import many
from gpu.results import AbsentError
from gpu.task import Task

LANES = {
    "hardware_lane": "hardware",
    "hardware_single_lane": "hardware-single",
    "gpu_huffman_lane": "gpu-huffman",
    "hybrid_lane": "hybrid",
    "cpu_lane": "cpu",
    "all_lanes": "hardware,cpu",
}
# Cores that are left to a trainer's process in a second measurement of all lanes.
KEPT_CORES = 3
# What a lane has to decode itself for a rate to be its own: the rest is the next lane's work.
SHARE = 0.95


def run(task: Task) -> None:
    """Measures; a lane that cannot be had is null with its reason."""
    results = task.results
    rows: list[dict[str, Any]] = []
    own: dict[str, list[dict[str, Any]]] = {name: [] for name in LANES}
    with many(task.pictures, task.lengths.entries) as folder:
        for number in range(task.lengths.rounds):
            for name, lanes in LANES.items():
                with results.attempt(name):
                    row = {"name": name, "round": number, **bench(task, folder, lanes)}
                    rows.append(row)
                    results.table("lanes", rows)
                    _check(row, lanes)
                    own[name].append(row)
                    _file(task, name, own[name])
                    print(f"{name}: {row['rate']:.0f} pictures/s, {row['cores']:.2f} cores", flush=True)
        with results.attempt("lanes_sum"):
            _sum(task, folder)
        with results.attempt("all_lanes_on_fewer_threads"):
            threads = max(1, int(task.found.conditions["cores"]) - KEPT_CORES)
            row = bench(task, folder, LANES["all_lanes"], "--threads", str(threads))
            results.table("all_lanes_on_fewer_threads", [{"threads": threads, **row}])


def bench(task: Task, folder: Path, lanes: str, *more: str, batch: int | None = None) -> dict[str, Any]:
    """What `forebay bench` tells of some lanes."""
    lengths = task.lengths
    size = str(batch or lengths.batch)
    command = ("bench", str(folder), "--lanes", lanes, "--seconds", str(lengths.seconds), "--batch-size", size, *more)
    return told(task.forebay.says(*command))


def told(text: str) -> dict[str, Any]:
    """The figures that `forebay bench` has printed."""
    rate = re.search(r"^(\d+) pictures/s \((\d+) in ([\d.]+) s\)", text, re.M)
    used = re.search(r"^processor: ([\d.]+) s", text, re.M)
    if rate is None or used is None:
        raise RuntimeError(f"forebay bench printed no rate: {text}")
    seconds, taken = float(rate[3]), re.search(r"^GPU \d+: (\d+) MiB", text, re.M)
    return {
        "rate": int(rate[2]) / seconds,
        "pictures": int(rate[2]),
        "seconds": seconds,
        "cpu_seconds": float(used[1]),
        "cores": float(used[1]) / seconds,
        "shares": {lane: int(count) for lane, count in re.findall(r"^(.+): (\d+) pictures$", text, re.M)},
        "gpu_mib": int(taken[1]) if taken else None,
    }


def _check(row: dict[str, Any], lanes: str) -> None:
    """A lane that leaves pictures to the CPU would be filed with the CPU's rate."""
    if "," in lanes:
        return
    all_of_them = sum(row["shares"].values())
    own = sum(count for lane, count in row["shares"].items() if lane == lanes or lane.startswith(f"{lanes} on GPU "))
    if own < SHARE * all_of_them:
        raise AbsentError(f"it decoded {own} of {all_of_them} pictures, and left the rest to other lanes")


def _file(task: Task, name: str, rows: list[dict[str, Any]]) -> None:
    results = task.results
    results.rates(name, [row["rate"] for row in rows])
    results.cpu_seconds[name] = statistics.median(row["cpu_seconds"] / row["pictures"] * 1000 for row in rows)
    results.cores[name] = statistics.median(row["cores"] for row in rows)


def _sum(task: Task, folder: Path) -> None:
    """The bare engines, and the CPU lane on the cores that feeding them leaves, round by round."""
    results = task.results
    bare, used = results.rounds.get("hardware_bare"), results.cores.get("hardware_lane")
    if not bare or used is None:
        raise AbsentError("it takes hardware_bare and hardware_lane")
    left = max(1, int(task.found.conditions["cores"]) - round(used))
    rounds = [bench(task, folder, "cpu", "--threads", str(left)) for _ in bare]
    results.table("cpu_on_the_cores_left", [{"threads": left, **row} for row in rounds])
    results.rates("lanes_sum", [rate + row["rate"] for rate, row in zip(bare, rounds, strict=True)])
