"""What the machine has: `forebay doctor`, its libraries, its tools."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass

from gpu.forebay import Forebay


@dataclass(frozen=True)
class Found:
    """What the probe has found."""

    text: str
    gpu: str | None
    conditions: dict[str, str]


def run(forebay: Forebay) -> Found:
    """Asks, without starting anything on the GPU beyond what the doctor does."""
    doctor = forebay.says("doctor")
    conditions = {
        "version": forebay.says("--version").strip(),
        "system": f"{platform.platform()}, glibc {platform.libc_ver()[1]}",
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": _first(r"model name\s*:\s*(.*)", _read("/proc/cpuinfo")),
        "load": _read("/proc/loadavg").strip(),
        "capabilities": os.environ.get("NVIDIA_DRIVER_CAPABILITIES", "not set"),
        "driver": _say("nvidia-smi", "--query-gpu=name,driver_version,mig.mode.current", "--format=csv,noheader"),
        "torch": _say("python3", "-c", "import torch, torchvision; print(torch.__version__, torchvision.__version__)"),
    }
    gpus = re.findall(r"^GPU \d+\s+(.*?) at ", doctor, re.M)
    decodes = re.search(r"^  (hardware +\d|hybrid +to be had)", doctor, re.M)
    lines = [doctor.rstrip(), "", *(f"{key}: {value}" for key, value in conditions.items())]
    return Found("\n".join(lines), gpus[0] if gpus and decodes else None, {**conditions, "doctor": doctor})


def _say(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except OSError as error:
        return f"none ({error.strerror})"
    last = (done.stderr.strip() or "no word").splitlines()[-1]
    return done.stdout.strip() if done.returncode == 0 else f"none ({last})"


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"
