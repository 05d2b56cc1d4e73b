"""Bare loops of nvJPEG, which lanes are held against: over states, lengths of batches and forms of the planes."""

from __future__ import annotations

import re
from typing import Any

from gpu.forebay import many
from gpu.results import AbsentError
from gpu.task import Task

LINE = re.compile(r"^(bare|best) ([\w-]+) loop, ([\w ]+): (\d+) states, batches of (\d+): (\d+) pictures/s$")


def run(task: Task) -> None:
    """Rows for all that was tried, each as it comes, and the rounds of the hardware's best pair."""
    results = task.results
    rows: list[dict[str, Any]] = []
    with many(task.pictures, len(task.pictures)) as folder, results.attempt("hardware_bare", seconds=240):
        seconds, last = str(task.lengths.bare_seconds), "it printed nothing"
        for line in task.forebay.lines("doctor", "--measure", str(folder), "--seconds", seconds, timeout=230):
            last = line.strip() or last
            if not (found := LINE.match(line)):
                continue
            which, lane, form, states, batch, rate = found.groups()
            numbers = {"states": int(states), "batch": int(batch), "rate": int(rate)}
            rows.append({"which": which, "lane": lane, "form": form, **numbers})
            results.table("bare", rows)
            if which == "best":
                results.rates("hardware_bare", [float(row["rate"]) for row in rows if row["which"] == "best"])
            results.write()
            print(last, flush=True)
        if not results.rounds.get("hardware_bare"):
            raise AbsentError(last)
