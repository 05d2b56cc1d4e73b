"""What every peer does alike: measures its functions on a picture, or its decoder on files; prints a line of JSON."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable

import numpy as np

SIDE = 224
# Corners of the perspective: where they were, and where they are, as (column, row).
CORNERS = [[0, 0], [223, 0], [223, 223], [0, 223]]
MOVED = [[20, 10], [210, 5], [200, 220], [8, 200]]
# The rectangle that is erased: row, column, height, width.
ERASED = (40, 50, 50, 60)


def picture() -> np.ndarray:
    """A picture with slopes, edges and some noise."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    noise = np.random.default_rng(0).integers(0, 24, (SIDE, SIDE, 3))
    slopes = np.stack([rows / 2 + 40, columns / 2 + 60, (rows + columns) / 3 + 20], axis=-1)
    edges = ((rows // 28 + columns // 28) % 2 * 50)[..., None]
    return np.clip(slopes + edges + noise, 0, 255).astype(np.uint8)


def run(functions: Mapping[str, Callable[[], Any]], decode: Callable[[bytes], Any] | None = None) -> None:
    """Measures the functions, or with files the decoder."""
    job = json.loads(sys.argv[1])
    if job["files"]:
        assert decode is not None
        contents = [Path(path).read_bytes() for path in job["files"]]
        print(json.dumps({"decode": rate(contents, decode)}))
    else:
        print(json.dumps({name: microseconds(function, job["seconds"]) for name, function in functions.items()}))


def microseconds(function: Callable[[], Any], seconds: float) -> float:
    """Of a call: the median of groups of calls that take a thirtieth of the time each."""
    began = time.perf_counter()
    for _ in range(3):
        function()
    calls = max(1, round(seconds / 30 / ((time.perf_counter() - began) / 3)))
    groups = []
    while sum(groups) < seconds:
        began = time.perf_counter()
        for _ in range(calls):
            function()
        groups.append(time.perf_counter() - began)
    return statistics.median(groups) / calls * 1e6


def rate(contents: list[bytes], decode: Callable[[bytes], Any]) -> float:
    """Pictures per second, over all files after a tenth of them."""
    for each in contents[: len(contents) // 10 + 1]:
        decode(each)
    began = time.perf_counter()
    for each in contents:
        decode(each)
    return len(contents) / (time.perf_counter() - began)
