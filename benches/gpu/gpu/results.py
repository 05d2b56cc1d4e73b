"""Figures by name, on disk after each of them; one that could not be had is null, with the reason."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring.limit import within

from gpu.page import page
from gpu.targets import targets

PEERS = ("torchvision", "nvimagecodec", "dali", "dali_train", "torchvision_decode", "nvimagecodec_decode")
NAMES = (
    "hardware_bare",
    "hardware_lane",
    "hardware_single_lane",
    "gpu_huffman_lane",
    "hybrid_lane",
    "cpu_lane",
    "lanes_sum",
    "all_lanes",
    "host_ring",
    "host_ring_pinned",
    "gpu_ring",
    "gpu_ring_resized",
    "gpu_ring_eval",
    "gpu_ring_train",
    *PEERS,
)
# What may be absent where everything of ours is required.
OTHERS = (*PEERS, "compute_sanitizer", "torchvision on the GPU", "torchvision's DataLoader")
# The reason of a name that nobody has tried.
NOT_RUN = "its part did not run"
# What is kept of an earlier call, as the file names it.
KEPT = {
    "rounds": "rounds",
    "reasons": "reasons",
    "failures": "failures",
    "tables": "tables",
    "parts": "parts",
    "cpu_seconds_per_thousand": "cpu_seconds",
    "cores": "cores",
}


class AbsentError(Exception):
    """A figure cannot be had here, for the reason that it gives."""


@dataclass
class Results:
    """All figures of a GPU and a day, those of earlier calls among them."""

    gpu: str
    folder: Path
    conditions: dict[str, str] = field(default_factory=dict)
    # Whether what cannot be had of our own is a failure.
    required: bool = False
    rounds: dict[str, list[float]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    # Seconds that each part took, and what the machine was like.
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Processor time of a thousand pictures, and cores that were kept busy; medians.
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    cores: dict[str, float] = field(default_factory=dict)

    @classmethod
    def opened(cls, gpu: str, folder: Path, conditions: dict[str, str], required: bool = False) -> Results:
        """With what earlier calls of the day have left in the folder."""
        results = cls(gpu, folder, conditions, required)
        if (file := results.file(".json")).exists():
            results.merge(json.loads(file.read_text()))
        return results

    def merge(self, figures: dict[str, Any]) -> None:
        """Adds what another call has written; where both have a figure, that one counts."""
        for key, name in KEPT.items():
            # What that call has no figure of is null there.
            there = {what: value for what, value in figures.get(key, {}).items() if value not in ([], NOT_RUN)}
            getattr(self, name).update(there)
        self.reasons = {name: reason for name, reason in self.reasons.items() if name not in self.rounds}
        self.conditions = self.conditions or figures.get("conditions", {})

    @contextlib.contextmanager
    def attempt(self, name: str, seconds: float = 120) -> Iterator[None]:
        """What the body raises is why the figure is missing; so is a body that takes longer. Then all is written."""
        self.reasons.pop(name, None)
        self.failures.pop(name, None)
        try:
            with within(seconds):
                yield
        except AbsentError as reason:
            self.absent(name, str(reason))
        except Exception as error:
            self.absent(name, f"{type(error).__name__}: {error}")
        self.write()

    def rates(self, name: str, rates: list[float]) -> None:
        """The rounds of a figure."""
        self.rounds[name] = rates
        self.reasons.pop(name, None)

    def median(self, name: str) -> float | None:
        """Of a figure's rounds."""
        return statistics.median(self.rounds[name]) if self.rounds.get(name) else None

    def table(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Raw rows."""
        self.tables[name] = rows

    def absent(self, name: str, reason: str) -> None:
        """Why a figure is not there."""
        print(f"{name}: none, {reason}", flush=True)
        self.reasons[name] = reason
        if self.required and name not in OTHERS:
            self.failures[name] = reason

    def reason(self, name: str) -> str:
        """Why a figure is not there, or its part."""
        return self.reasons.get(name, NOT_RUN)

    def failed(self, part: str, reason: str) -> None:
        """Something is wrong."""
        print(f"{part} failed: {reason}", flush=True)
        self.failures[part] = reason

    def file(self, ending: str) -> Path:
        """A file of these results."""
        gpu = re.sub(r"[^a-z0-9]+", "-", self.gpu.lower()).strip("-")
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{datetime.date.today().isoformat()}-{gpu}{ending}"

    def figures(self) -> dict[str, Any]:
        """All of them, as they are written."""
        figures = {
            "gpu": self.gpu,
            "images_per_second": {name: self.median(name) for name in NAMES},
            "targets": [],
            "rounds": {name: self.rounds.get(name, []) for name in NAMES},
            "reasons": {**self.reasons, **{name: self.reason(name) for name in NAMES if name not in self.rounds}},
            "cpu_seconds_per_thousand": self.cpu_seconds,
            "cores": self.cores,
            "failures": self.failures,
            "tables": self.tables,
            "parts": self.parts,
            "conditions": self.conditions,
        }
        return {**figures, "targets": targets(figures)}

    def write(self) -> Path:
        """Writes the page and the figures, each as a whole. Gives the page."""
        figures = self.figures()
        _replace(self.file(".json"), json.dumps(figures, indent=1) + "\n")
        return _replace(self.file(".md"), page(figures))


def _replace(file: Path, text: str) -> Path:
    """A process that is killed meanwhile leaves what stood there."""
    draft = file.with_name(file.name + ".part")
    draft.write_text(text)
    os.replace(draft, file)
    return file
