"""DALI's CPU pipeline, as its ResNet example shows it.

Options: `fast_idct`; `centre` (decodes the middle alone); and `python`, for functions in Python: by `python_function`
("function"), or in worker processes of `external_source` ("source").
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import stopwatch
from nvidia.dali import fn, math, pipeline_def, types


class Pictures:
    """What worker processes of DALI call: a file, decoded by OpenCV and changed by Albumentations."""

    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __call__(self, sample: types.SampleInfo) -> np.ndarray:
        """The picture of a position, without an end of the epoch."""
        import cv2
        from functions import python

        cv2.setNumThreads(1)
        return python(cv2.imread(self.files[sample.idx_in_epoch % len(self.files)], cv2.IMREAD_COLOR_RGB))


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

    def called(jpegs):  # noqa: ANN001, ANN202
        whole = job.task == "python"
        pictures = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB) if whole else train(jpegs)
        from functions import python, python_after_crop

        return fn.python_function(pictures, function=python if whole else python_after_crop)

    task = {
        "train": train,
        "eval": centre if job.options.get("centre") else evaluation,
        "python": called,
        "python-after-crop": called,
    }[job.task]
    given: dict[str, object] = {"batch_size": job.batch, "num_threads": job.threads, "device_id": None}
    in_workers = job.options.get("python") == "source"
    if in_workers:
        # The modules of this process have threads.
        given |= {"py_num_workers": job.threads, "py_start_method": "spawn"}

    @pipeline_def(prefetch_queue_depth=2, **given)
    def pipeline():  # noqa: ANN202
        if in_workers:
            source = Pictures(job.files)
            return fn.external_source(source, parallel=True, batch=False, dtype=types.UINT8, ndim=3)
        jpegs, _ = fn.readers.file(files=job.files, labels=[0] * len(job.files), random_shuffle=job.task != "eval")
        return task(jpegs)

    made = pipeline()
    made.build()
    while True:
        (pictures,) = made.run()
        yield np.asarray(pictures.as_tensor())


if __name__ == "__main__":
    stopwatch.run(batches)
