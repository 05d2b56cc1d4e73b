"""Minutes of all lanes: memory of the process and of the GPU must not grow."""

from __future__ import annotations

import subprocess
import tempfile
import time
from typing import Any

from gpu import memory
from gpu.forebay import many
from gpu.task import Task

# The part of the time after which memory must not grow any more, and what allocators may still take, in MiB.
WARM = 0.2
GROWTH = 32
# Between looks, and for what goes before and after the measurement.
EVERY, ASIDE = 5, 90


def run(task: Task) -> None:
    """Runs a benchmark and looks at it every five seconds."""
    with task.results.attempt("soak", task.lengths.soak_seconds + ASIDE):
        _soak(task)


def _soak(task: Task) -> None:
    seconds, results = task.lengths.soak_seconds, task.results
    samples: list[dict[str, Any]] = []
    with many(task.pictures, task.lengths.entries) as folder, tempfile.TemporaryFile("w+") as said:
        lanes = ",".join(task.found.together)
        command = [task.forebay.binary, "bench", folder, "--lanes", lanes, "--seconds", str(seconds)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, text=True)
        begun = time.monotonic()
        try:
            while process.poll() is None:
                at = int(time.monotonic() - begun)
                samples.append({"at": at, "host": memory.of_process(process.pid), "gpu": memory.of_gpu()})
                # Until it can be seen in a run that is cut off.
                results.table("soak", samples)
                results.write()
                try:
                    process.wait(timeout=min(EVERY, seconds / 4))
                except subprocess.TimeoutExpired:
                    continue
        finally:
            process.kill()
            code = process.wait()
        said.seek(0)
        if code != 0:
            results.failed("soak", said.read().strip())
            return
    _judge(task, [sample for sample in samples if sample["at"] >= WARM * seconds and sample["host"]], seconds)


def _judge(task: Task, warm: list[dict[str, Any]], seconds: int) -> None:
    """The last look is left out: the process may be at its end, and its GPU's memory gone."""
    results = task.results
    looks = warm[:-1]
    if len(looks) < 2:
        results.absent("soak", f"{seconds} s are too few for a look when it is warm and one at the end")
        return
    growth: dict[str, Any] = {"seconds": seconds}
    for name in ("host", "gpu"):
        first, last = looks[0][name], looks[-1][name]
        if first is None or last is None:
            growth[f"{name}_mib"] = None
            results.absent(f"soak of the {name}", "nvidia-smi, which counts its memory, is not there")
            continue
        growth[f"{name}_mib"] = last - first
        if last - first > GROWTH:
            results.failed("soak", f"memory of the {name} grew from {first} to {last} MiB")
    results.table("soak_growth", [growth])
