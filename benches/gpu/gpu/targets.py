"""The ratios that are to be reached, beside what was measured: one that is missed is shown, and is no failure."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

# What is written as JSON.
Figures = dict[str, Any]
Measure = Callable[[Figures], "float | None"]


class Target(NamedTuple):
    """A figure, what it should be at least or at most, and where it comes from."""

    name: str
    goal: float
    at_least: bool
    value: Measure


def _ratio(above: str, below: str) -> Measure:
    def value(figures: Figures) -> float | None:
        medians = figures["images_per_second"]
        return medians[above] / medians[below] if medians[above] and medians[below] else None

    return value


def _copies(figures: Figures) -> float | None:
    rates = {row["from"]: statistics.median(row["gb_per_second"]) for row in figures["tables"].get("copies", [])}
    ring, pinned = rates.get("pinned ring"), rates.get("pinned memory")
    return ring / pinned if ring and pinned else None


def _step(name: str) -> Measure:
    """How long a step takes beside one whose pictures are on the GPU already, measured before and after it."""

    def value(figures: Figures) -> float | None:
        rows = figures["tables"].get("training", [])
        plain = [row["milliseconds"] for row in rows if row["pictures"].startswith("on the GPU already")]
        times = [row["milliseconds"] for row in rows if row["pictures"] == name]
        if not (times and plain):
            return None
        return statistics.median(chain.from_iterable(times)) / statistics.median(chain.from_iterable(plain))

    return value


def _told(pattern: str) -> Measure:
    """The largest number that tests on the GPU told."""

    def value(figures: Figures) -> float | None:
        said = "\n".join(row["outcome"] for row in figures["tables"].get("tests", []))
        return max((float(number) for number in re.findall(pattern, said)), default=None)

    return value


def _growth(memory: str) -> Measure:
    def value(figures: Figures) -> float | None:
        return next((row[memory] for row in figures["tables"].get("soak_growth", [])), None)

    return value


TARGETS = (
    Target("hardware_lane / hardware_bare", 0.90, True, _ratio("hardware_lane", "hardware_bare")),
    Target("all_lanes / lanes_sum", 0.85, True, _ratio("all_lanes", "lanes_sum")),
    Target("cores of hardware_lane", 2, False, lambda figures: figures["cores"].get("hardware_lane")),
    Target("gpu_ring_resized / torchvision", 1.5, True, _ratio("gpu_ring_resized", "torchvision")),
    Target("gpu_ring_resized / nvimagecodec", 1.1, True, _ratio("gpu_ring_resized", "nvimagecodec")),
    Target("gpu_ring_train / dali_train", 1.0, True, _ratio("gpu_ring_train", "dali_train")),
    Target("copies from the ring / from pinned memory", 0.9, True, _copies),
    Target("step with gpu_ring / on the GPU already", 1.03, False, _step("gpu_ring")),
    Target("step beside the hardware lane / alone", 1.02, False, _step("beside the hardware lane")),
    Target("kernel beside its twin, levels of 255", 1, False, _told(r"worst difference ([\d.]+) of 255")),
    Target("surfaces used again, wrong of 200", 0, False, _told(r"(\d+) wrong of")),
    Target("growth of the host's memory over the soak, MiB", 32, False, _growth("host_mib")),
    Target("growth of the GPU's memory over the soak, MiB", 32, False, _growth("gpu_mib")),
)


def targets(figures: Figures) -> list[dict[str, Any]]:
    """A row for each: met is null where there is no value."""
    rows = []
    for name, goal, at_least, measure in TARGETS:
        value = measure(figures)
        met = None if value is None else value >= goal if at_least else value <= goal
        rows.append({"target": name, "value": value, "goal": goal, "at_least": at_least, "met": met})
    return rows
