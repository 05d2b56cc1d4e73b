"""What was measured, as a page and as JSON with every raw figure."""

from __future__ import annotations

import datetime
import json
import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu.probe import Found

FOLDER = Path(__file__).resolve().parents[1] / "results"
PEERS = ("torchvision", "nvimagecodec", "dali")
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
    *PEERS,
)
# What may be absent where everything of ours is required.
OTHERS = (*PEERS, "compute_sanitizer")


@dataclass
class Results:
    """Figures by name; one that could not be had is null, with the reason."""

    found: Found
    # Whether what cannot be had of our own is a failure.
    required: bool = False
    images_per_second: dict[str, float | None] = field(default_factory=lambda: dict.fromkeys(NAMES))
    rounds: dict[str, list[float]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def median(rates: list[float]) -> float:
        """The middle one."""
        return statistics.median(rates)

    def rates(self, name: str, rates: list[float]) -> None:
        """The rounds of a figure."""
        self.rounds[name] = rates
        self.images_per_second[name] = self.median(rates)

    def table(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Raw rows."""
        self.tables[name] = rows

    def absent(self, name: str, reason: str) -> None:
        """Why a figure is not there."""
        self.reasons[name] = reason
        if self.required and name not in OTHERS:
            self.failures[name] = reason

    def reason(self, name: str) -> str:
        """Why a figure is not there, or its part."""
        return self.reasons.get(name, "its part did not run")

    def failed(self, part: str, reason: str) -> None:
        """A part has shown something wrong."""
        self.failures[part] = reason

    def file(self, ending: str) -> Path:
        """A file of these results."""
        gpu = re.sub(r"[^a-z0-9]+", "-", (self.found.gpu or "none").lower()).strip("-")
        FOLDER.mkdir(exist_ok=True)
        return FOLDER / f"{datetime.date.today().isoformat()}-{gpu}{ending}"

    def page(self) -> str:
        """The figures as Markdown."""
        lines = [f"# {self.found.gpu}", "", "| pictures/s | median | rounds |", "|---|---|---|"]
        for name in NAMES:
            rate = self.images_per_second[name]
            shown = f"{rate:.0f}" if rate is not None else f"none: {self.reason(name)}"
            lines.append(f"| {name} | {shown} | {', '.join(f'{rate:.0f}' for rate in self.rounds.get(name, []))} |")
        if self.cpu_seconds:
            lines += ["", "CPU seconds per thousand pictures, start and warming up included:", ""]
            lines += [f"- {name}: {seconds:.2f}" for name, seconds in self.cpu_seconds.items()]
        for row in self.tables.get("tests", []):
            lines += ["", f"{row['lane']}: {row['outcome']}"]
        lines += ["", "Difference to Pillow, in levels of 255:", ""]
        lines += [
            "- {lane}, {sampling}: up to {worst}, {mean:.4f} on average, {pictures} pictures".format(**row)
            for row in self.tables.get("pixels", [])
        ] or [f"- none: {self.reason('pixels')}"]
        lines += ["", "Milliseconds of a step of ResNet-50, the median, by where its pictures come from:", ""]
        for row in self.tables.get("training", []):
            times = row["milliseconds"]
            lines.append(
                f"- {row['pictures']}: " + (f"{self.median(times):.2f}" if times else f"none: {row['reason']}")
            )
        lines += ["", "Random crops by GPU lanes beside the CPU lane's, in levels of 255:", ""]
        lines += [
            "- {lane}: up to {worst}, {mean:.4f} on average, {pictures} pictures".format(**row)
            for row in self.tables.get("draws", [])
        ] or [f"- none: {self.reason('draws')}"]
        for row in self.tables.get("sheet", []):
            lines += ["", "![The same records by each lane]({file})".format(**row)]
        lines += ["", "compute-sanitizer:", ""]
        lines += [
            "- {tool}, forebay {command}: {told}".format(**row) for row in self.tables.get("compute_sanitizer", [])
        ] or [f"- none: {self.reason('compute_sanitizer')}"]
        for part, reason in self.failures.items():
            lines += ["", f"**{part} failed:** {reason}"]
        conditions = [f"- {key}: {value}" for key, value in self.found.conditions.items() if key != "doctor"]
        return "\n".join([*lines, "", *conditions, "", "```text", self.found.conditions["doctor"].rstrip(), "```", ""])

    def write(self) -> str:
        """Writes both files and says where."""
        page, raw = self.file(".md"), self.file(".json")
        page.write_text(self.page())
        figures = {
            "gpu": self.found.gpu,
            "images_per_second": self.images_per_second,
            "rounds": {name: self.rounds.get(name, []) for name in NAMES},
            "reasons": {**self.reasons, **{name: self.reason(name) for name in NAMES if name not in self.rounds}},
            "cpu_seconds_per_thousand": self.cpu_seconds,
            "failures": self.failures,
            "tables": self.tables,
            "conditions": self.found.conditions,
        }
        raw.write_text(json.dumps(figures, indent=1) + "\n")
        return f"{page} and {raw.name}"
