"""How far each lane's pixels are from Pillow's, by sampling."""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from gpu.results import AbsentError
from gpu.task import Task

KINDS = {(1, 1): "4:4:4", (2, 1): "4:2:2", (2, 2): "4:2:0", (1, 2): "4:4:0"}


def run(task: Task) -> None:
    """A row for each lane and sampling: pictures, the largest difference of a value, the mean of all."""
    with task.results.attempt("pixels"):
        _compare(task)


def _compare(task: Task) -> None:
    try:
        import numpy
        from PIL import Image
    except ImportError as error:
        reason = f"this Python has no {error.name}; FOREBAY_PYTHON names one that has Pillow and NumPy"
        raise AbsentError(reason) from error
    with tempfile.TemporaryDirectory(prefix="forebay-gpu-") as folder:
        given, decoded = Path(folder) / "given", Path(folder) / "decoded"
        given.mkdir()
        for number, picture in enumerate(task.pictures):
            (given / f"{number}.jpg").write_bytes(picture.read_bytes())
        said = task.forebay.says("doctor", "--pixels", str(given), str(decoded))
        seen: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
        for ours in sorted(decoded.rglob("*.ppm")):
            with Image.open(given / f"{ours.stem}.jpg") as theirs, Image.open(ours) as mine:
                sampling = _sampling(theirs.layer)
                pair = [numpy.asarray(image.convert("RGB"), dtype=numpy.int16) for image in (theirs, mine)]
            apart = abs(pair[0] - pair[1])
            seen[ours.parent.name, sampling].append((int(apart.max()), int(apart.sum()), apart.size))
    rows: list[dict[str, Any]] = []
    for (lane, sampling), differences in sorted(seen.items()):
        worst, sums, values = zip(*differences, strict=True)
        row = {"lane": lane, "sampling": sampling, "pictures": len(differences)}
        rows.append({**row, "worst": max(worst), "mean": sum(sums) / sum(values)})
    task.results.table("pixels", rows)
    reasons = re.findall(r"^pixels (.*?): (\S+ refused, .*|none, .*)$", said, re.M)
    task.results.table("left_to_the_next_lane", [{"lane": lane, "what": what} for lane, what in reasons])


def _sampling(layers: list[tuple[int, int, int, int]]) -> str:
    """From the components' numbers, factors and tables."""
    if len(layers) < 3:
        return "gray"
    (_, across, down, _), (_, less_across, less_down, _) = layers[:2]
    return KINDS.get((across // less_across, down // less_down), f"{across}x{down}, {less_across}x{less_down}")
