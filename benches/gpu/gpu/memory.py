"""Memory that is taken: of the first GPU, by whomever, and of the host, by a process."""

from __future__ import annotations

import subprocess
from pathlib import Path


def of_gpu() -> int | None:
    """MiB; None where nvidia-smi cannot say. In containers it knows no processes, so all of them count."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return int(said) if said.isdigit() else None


def of_process(pid: int) -> int | None:
    """MiB of the host; None where it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    lines = [line.split() for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(lines[0][1]) >> 10 if lines else None
