"""The limit of whole decodes: libjpeg-turbo from memory to RGB, with no crop, no resize and no batch."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import simplejpeg
import stopwatch


def batches(job: stopwatch.Job) -> Iterator[int]:
    """Numbers of pictures."""
    pictures = [Path(path).read_bytes() for path in job.files]
    share = -(-job.batch // job.threads)

    def decode(first: int) -> int:
        for number in range(first, first + share):
            picture = pictures[number % len(pictures)]
            # A picture with components of its own kind (CMYK) counts, and is left out.
            if simplejpeg.decode_jpeg_header(picture)[2] != "CMYK":
                simplejpeg.decode_jpeg(picture, "RGB", fastdct=False, fastupsample=False)
        return share

    with ThreadPoolExecutor(job.threads) as pool:
        at = 0
        while True:
            yield sum(pool.map(decode, range(at, at + share * job.threads, share)))
            at += share * job.threads


stopwatch.run(batches)
