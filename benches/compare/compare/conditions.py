"""Under what conditions it was measured: machine, versions, files."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence

from measuring.machine import processor

from compare.contest import Settings
from compare.entrants import Entrant
from compare.venvs import Venvs

# The packages that a row is named for.
SHOWN = (
    "forebay",
    "torch",
    "torchvision",
    "pillow",
    "nvidia-dali-cuda120",
    "tensorflow-cpu",
    "ffcv",
    "pillow-simd",
    "simplejpeg",
    "albumentations",
)


def conditions(settings: Settings, files: list[str], entrants: Sequence[Entrant], venvs: Venvs) -> dict[str, str]:
    """By name, for people."""
    sizes = [os.stat(path).st_size for path in files]
    versions: dict[str, str] = {}
    for venv in {entrant.venv for entrant in entrants if entrant.venv}:
        versions |= {name: version for name, version in venvs.versions(venv).items() if name in SHOWN}
    return {
        "machine": f"{processor()}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}",
        "when": datetime.date.today().isoformat(),
        "files": f"{len(files)} JPEG files, {sum(sizes) / len(sizes) / 1000:.0f} kB each on average, in the page cache",
        "method": f"{settings.rounds} rounds in turn, {settings.seconds:.0f} s each after {settings.warm:.0f} s of "
        f"warming up; every entrant in its own processes, all of them on the same {settings.threads} cores; timed are "
        "batches of 8-bit RGB that a Python loop takes and touches; the median counts, the spread is half the distance "
        "from the least to the most",
        "load at the start": f"{os.getloadavg()[0]:.2f}",
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
    }
