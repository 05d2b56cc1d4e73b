"""DALI's CPU pipeline, as its ResNet example shows it; options: `fast_idct`, `centre` (decodes the middle alone)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import stopwatch
from nvidia.dali import fn, math, pipeline_def, types


def batches(job: stopwatch.Job) -> Iterator[np.ndarray]:
    """Views on the pipeline's own output."""
    fast = job.options.get("fast_idct", False)

    def train(jpegs):  # noqa: ANN001, ANN202 - DALI's graph nodes have no type
        pictures = fn.decoders.image_random_crop(
            jpegs,
            device="cpu",
            output_type=types.RGB,
            random_area=list(stopwatch.AREA),
            random_aspect_ratio=list(stopwatch.RATIO),
            num_attempts=100,
            use_fast_idct=fast,
        )
        pictures = fn.resize(pictures, size=[stopwatch.SIZE] * 2, interp_type=types.INTERP_TRIANGULAR)
        return fn.flip(pictures, horizontal=fn.random.coin_flip())

    def evaluation(jpegs):  # noqa: ANN001, ANN202
        pictures = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB, use_fast_idct=fast)
        pictures = fn.resize(pictures, size=stopwatch.SHORTER, mode="not_smaller", interp_type=types.INTERP_TRIANGULAR)
        return fn.crop(pictures, crop=[stopwatch.SIZE] * 2)

    def centre(jpegs):  # noqa: ANN001, ANN202
        shape = fn.peek_image_shape(jpegs)
        side = math.floor(math.min(shape[0], shape[1]) * (stopwatch.SIZE / stopwatch.SHORTER))
        pictures = fn.decoders.image_crop(
            jpegs, device="cpu", output_type=types.RGB, crop_h=side, crop_w=side, use_fast_idct=fast
        )
        return fn.resize(pictures, size=[stopwatch.SIZE] * 2, interp_type=types.INTERP_TRIANGULAR)

    task = {"train": train, "eval": centre if job.options.get("centre") else evaluation}[job.task]

    @pipeline_def(batch_size=job.batch, num_threads=job.threads, device_id=None, prefetch_queue_depth=2)
    def pipeline():  # noqa: ANN202
        jpegs, _ = fn.readers.file(files=job.files, labels=[0] * len(job.files), random_shuffle=job.task == "train")
        return task(jpegs)

    made = pipeline()
    made.build()
    while True:
        (pictures,) = made.run()
        yield np.asarray(pictures.as_tensor())


stopwatch.run(batches)
