"""What the machine has: `forebay doctor`, its libraries, its tools."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata

from measuring.machine import processor

from gpu.forebay import Forebay

PACKAGES = ("torch", "torchvision", "nvidia-nvimgcodec-cu13", "nvidia-nvjpeg", "forebay")


@dataclass(frozen=True)
class Found:
    """What the probe has found."""

    text: str
    # The first GPU that decodes.
    gpu: str | None
    conditions: dict[str, str]
    # Those of its kinds of lanes that can be had.
    lanes: tuple[str, ...] = ("hardware", "hardware-single", "gpu-huffman", "hybrid")

    @property
    def main_lane(self) -> str:
        """The lane that streams of the other parts are decoded by."""
        return "hardware" if "hardware" in self.lanes else "hybrid"

    @property
    def together(self) -> list[str]:
        """The same with the CPU beside it."""
        return [self.main_lane, "cpu"]


def run(forebay: Forebay) -> Found:
    """Asks, without starting anything on the GPU beyond what the doctor does."""
    doctor = forebay.says("doctor")
    conditions = {
        "version": forebay.says("--version").strip(),
        "system": f"{platform.platform()}, glibc {platform.libc_ver()[1]}",
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": processor(),
        "load": _read("/proc/loadavg").strip(),
        "capabilities": os.environ.get("NVIDIA_DRIVER_CAPABILITIES", "not set"),
        "driver": _say("nvidia-smi", "--query-gpu=name,driver_version,mig.mode.current", "--format=csv,noheader"),
        "python": f"{sys.executable}, {platform.python_version()}",
        "packages": ", ".join(f"{package} {_version(package)}" for package in PACKAGES),
    }
    gpus = re.findall(r"^GPU \d+\s+(.*?) at ", doctor, re.M)
    lanes = tuple(re.findall(r"^  (hybrid|gpu-huffman) +available", doctor, re.M))
    if re.search(r"^  hardware +\d", doctor, re.M):
        lanes = ("hardware", "hardware-single", *lanes)
    lines = [doctor.rstrip(), "", *(f"{key}: {value}" for key, value in conditions.items())]
    gpu = gpus[0] if gpus and lanes else None
    return Found("\n".join(lines), gpu, {**conditions, "doctor": doctor}, lanes)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def _say(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"none ({error})"
    last = (done.stderr.strip() or "no word").splitlines()[-1]
    return done.stdout.strip() if done.returncode == 0 else f"none ({last})"


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()
