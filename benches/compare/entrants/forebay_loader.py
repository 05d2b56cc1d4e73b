"""This project: `forebay.Loader` with a daemon of its own, over the list of files."""

from __future__ import annotations

from collections.abc import Iterator

import forebay
import numpy as np
import stopwatch


def batches(job: stopwatch.Job) -> Iterator[np.ndarray]:
    """Views on the ring."""
    settings = {
        "batch_size": job.batch,
        "size": stopwatch.SIZE,
        "shuffle": job.task == "train",
        "num_threads": job.threads,
        **job.options,
    }
    with forebay.Loader(job.files, **settings) as loader:
        while True:
            for batch in loader:
                yield batch.images


stopwatch.run(batches)
