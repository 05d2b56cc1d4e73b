"""The machine that figures are from."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def processor() -> str:
    """The model's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def cores_and_load() -> str:
    """How many cores there are, and how busy they were during the last minute."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} at the start"
