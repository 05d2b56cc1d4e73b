"""Minutes of all lanes: memory of the process and of the GPU must not grow."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from gpu.forebay import Forebay, many
from gpu.report import Results

# The part of the time after which memory must not grow any more, and what allocators may still take.
WARM = 0.2
GROWTH = 32 << 20


def run(forebay: Forebay, pictures: list[Path], seconds: int, results: Results) -> None:
    """Runs a benchmark and looks at it every five seconds."""
    samples: list[dict[str, int]] = []
    with many(pictures, 50_000) as folder:
        command = [forebay.binary, "bench", folder, "--lanes", "hardware,cpu", "--seconds", str(seconds)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        begun = time.monotonic()
        while process.poll() is None:
            samples.append({"at": int(time.monotonic() - begun), "host": _host(process.pid), "gpu": _gpu(process.pid)})
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue
        assert process.stderr is not None
        said = process.stderr.read().strip()
    results.table("soak", samples)
    if process.returncode != 0:
        results.failed("soak", said)
        return
    warm = [sample for sample in samples if sample["at"] >= WARM * seconds and sample["host"]]
    for memory in ("host", "gpu"):
        if warm and warm[-1][memory] - warm[0][memory] > GROWTH:
            results.failed("soak", f"memory of the {memory} grew from {warm[0][memory]} to {warm[-1][memory]} bytes")


def _host(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(lines[0][1]) * 1024 if lines else 0


def _gpu(pid: int) -> int:
    query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20)
    except OSError:
        return 0
    rows = [row.split(", ") for row in done.stdout.splitlines()]
    return sum(int(row[1]) << 20 for row in rows if row[0] == str(pid) and row[1].isdigit())
