"""Hand-written loops: threads that fill batches, a few ahead."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

import numpy as np
from stopwatch import SIZE, Job

AHEAD = 3


def filled(job: Job, one: Callable[[str, np.ndarray], None]) -> Iterator[np.ndarray]:
    """Batches of which `one` fills each place from a path. It must let go of the interpreter's lock while it works."""
    paths = endless(job)
    with ThreadPoolExecutor(job.threads) as pool:

        def begin() -> tuple[np.ndarray, list]:
            batch = np.empty((job.batch, SIZE, SIZE, 3), np.uint8)
            return batch, [pool.submit(one, next(paths), place) for place in batch]

        under_way = deque(begin() for _ in range(AHEAD))
        while True:
            batch, places = under_way.popleft()
            for place in places:
                place.result()
            under_way.append(begin())
            yield batch


def endless(job: Job) -> Iterator[str]:
    """Every file once in each pass, in another order when training."""
    for _ in itertools.count():
        yield from random.sample(job.files, len(job.files)) if job.task == "train" else job.files
