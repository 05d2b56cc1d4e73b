"""Bare loops of nvJPEG, which lanes are held against: over states, lengths of batches and forms of the planes."""

from __future__ import annotations

import re

from gpu.forebay import many
from gpu.results import AbsentError
from gpu.task import Task

LINE = re.compile(r"^(bare|best) ([\w-]+) loop, ([\w ]+): (\d+) states, batches of (\d+): (\d+) pictures/s$", re.M)


def run(task: Task) -> None:
    """Rows for all that was tried, and the rounds of the hardware's best pair."""
    results = task.results
    with many(task.pictures, len(task.pictures)) as folder, results.attempt("hardware_bare", seconds=240):
        seconds = str(task.lengths.bare_seconds)
        text = task.forebay.says("doctor", "--measure", str(folder), "--seconds", seconds, timeout=230)
        rows = [
            {"which": which, "lane": lane, "form": form, "states": int(states), "batch": int(batch), "rate": int(rate)}
            for which, lane, form, states, batch, rate in LINE.findall(text)
        ]
        results.table("bare", rows)
        best = [float(row["rate"]) for row in rows if row["which"] == "best"]
        if not best:
            raise AbsentError(text.strip().splitlines()[-1])
        results.rates("hardware_bare", best)
        print(f"hardware_bare: {max(best):.0f} pictures/s", flush=True)
