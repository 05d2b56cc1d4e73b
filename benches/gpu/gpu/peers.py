"""Peers on the same files to the same output: 224 x 224, float16, on the GPU."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

from gpu.report import Results

BATCH = 256


def run(pictures: list[Path], options: argparse.Namespace, results: Results) -> None:
    """Measures each peer; one that is absent is null with the reason."""
    files = [picture.read_bytes() for picture in pictures]
    for name, make in {"torchvision": _torchvision, "nvimagecodec": _nvimagecodec, "dali": _dali}.items():
        try:
            step = make(files)
            rates = [_rate(step, options.seconds) for _ in range(options.rounds)]
        except Exception as error:  # Whatever a peer raises is why its figure is missing.
            results.absent(name, f"{type(error).__name__}: {error}")
        else:
            results.rates(name, rates)


def _batches(files: list[bytes]) -> list[list[bytes]]:
    count = -(-BATCH // len(files))
    return [(files * (count + 1))[start : start + BATCH] for start in range(0, len(files), max(1, len(files) // 4))]


def _rate(step: Callable[[], int], seconds: int) -> float:
    step()
    pictures, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        pictures += step()
    return pictures / (time.perf_counter() - begun)


def _cycle(batches: list[list[bytes]]) -> Callable[[], list[bytes]]:
    turn = iter(range(1 << 62))
    return lambda: batches[next(turn) % len(batches)]


def _torchvision(files: list[bytes]) -> Callable[[], int]:
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2.functional import resize

    batches = [[torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in batch] for batch in _batches(files)]
    following = _cycle(batches)

    def step() -> int:
        decoded = decode_jpeg(following(), mode=ImageReadMode.RGB, device="cuda")
        torch.stack([resize(picture, [224, 224], antialias=True) for picture in decoded]).half()
        torch.cuda.synchronize()
        return len(decoded)

    return step


def _nvimagecodec(files: list[bytes]) -> Callable[[], int]:
    import torch
    from nvidia import nvimgcodec
    from torchvision.transforms.v2.functional import resize

    decoder = nvimgcodec.Decoder()
    following = _cycle(_batches(files))

    def step() -> int:
        decoded = [torch.as_tensor(picture).permute(2, 0, 1) for picture in decoder.decode(following())]
        torch.stack([resize(picture, [224, 224], antialias=True) for picture in decoded]).half()
        torch.cuda.synchronize()
        return len(decoded)

    return step


def _dali(files: list[bytes]) -> Callable[[], int]:
    import numpy
    import torch
    from nvidia.dali import fn, pipeline_def, types

    batches = [[numpy.frombuffer(file, dtype=numpy.uint8) for file in batch] for batch in _batches(files)]
    following = _cycle(batches)

    @pipeline_def(batch_size=BATCH, num_threads=len(os.sched_getaffinity(0)), device_id=0)
    def decoding() -> object:
        read = fn.external_source(source=following, batch=True)
        decoded = fn.decoders.image(read, device="mixed", output_type=types.RGB)
        resized = fn.resize(decoded, size=[224, 224], antialias=True)
        return fn.crop_mirror_normalize(resized, dtype=types.FLOAT16, output_layout="CHW")

    pipeline = decoding()
    pipeline.build()

    def step() -> int:
        (output,) = pipeline.run()
        torch.cuda.synchronize()
        return len(output)

    return step
