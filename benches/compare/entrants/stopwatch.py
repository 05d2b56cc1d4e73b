"""What every entrant does alike: reads its job, lets the loader warm up, counts pictures, prints one line of JSON.

An entrant is a script that calls `run` with a function from a job to an endless iterator of batches. A batch is an
array of pictures of 8 bits, a list of such arrays if each picture has several views, or a number of pictures if there
is no array to touch.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

PAGE = 4096
# The training crop of all entrants: torchvision's defaults.
AREA = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
SIZE = 224
SHORTER = 256
# The sides of the views that a task makes of each picture. Every other task makes one, of SIZE.
VIEWS = {"dinov2": (224,) * 2 + (96,) * 8}


@dataclass(frozen=True)
class Job:
    """One measurement: which files, what is done with each, and for how long."""

    files: list[str]
    # "train": RandomResizedCrop(224) and flip. "eval": shorter side 256, middle 224. Others: what `works.py` says.
    task: str
    threads: int
    batch: int
    # Seconds to measure, and seconds before that.
    seconds: float
    warm: float
    # Pictures that have to be through before the clock starts.
    warm_pictures: int = 0
    # Folder for what an entrant makes of the files, kept between rounds.
    folder: str = "."
    options: dict[str, Any] = field(default_factory=dict)


def run(batches: Callable[[Job], Iterator[Any]]) -> None:
    """Measures and prints the result; ends the process, since not every loader can be ended otherwise."""
    job = Job(**json.loads(sys.argv[1]))
    pictures, seconds = measure(batches(job), job)
    print(json.dumps({"pictures": pictures, "seconds": seconds}), flush=True)
    os._exit(0)


def measure(batches: Iterator[Any], job: Job) -> tuple[int, float]:
    """Pictures and seconds from one arrival of a batch to another.

    Loaders whose workers make a batch each deliver as many at once as there are workers; the clock starts and stops at
    such a round's end, or some of them would be counted with a part of a round for nothing.
    """
    # Imports, compilation and the workers' start stand before the first batches, and do not warm anything up.
    sides = VIEWS.get(job.task, (SIZE,))
    take(batches, job.threads, 0, 1, sides)
    take(batches, job.threads, job.warm, job.warm_pictures, sides)
    begun = time.perf_counter()
    taken = take(batches, job.threads, job.seconds, 1, sides)
    return taken, time.perf_counter() - begun


def take(batches: Iterator[Any], length: int, seconds: float, pictures: int, sides: Sequence[int] = (SIZE,)) -> int:
    """Whole rounds of `length` batches until so many seconds are over and so many pictures are through; gives these.

    No batch is kept beyond its own turn, as in a plain loop.
    """
    begun, through = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds or through < pictures:
        for _ in range(length):
            through += touch(next(batches), sides)
    return through


def touch(batch: Any, sides: Sequence[int] = (SIZE,)) -> int:  # noqa: ANN401 - whatever the loader gives
    """Reads a byte of every page, so that nothing counts that is not there yet. Gives the number of pictures."""
    if isinstance(batch, int):
        return batch
    views = batch if isinstance(batch, (list, tuple)) else [batch]
    if len(views) != len(sides):
        raise TypeError(f"this entrant gives {len(views)} views of each picture, not {len(sides)}")
    for view, side in zip(views, sides):
        flat = np.asarray(view).reshape(-1)
        if flat.dtype != np.uint8 or flat.size != len(views[0]) * side * side * 3:
            raise TypeError(f"this entrant gives {flat.dtype} of {flat.size} values, not 8-bit RGB of {side} x {side}")
        int(flat[::PAGE].sum(dtype=np.uint64))
    return len(views[0])
