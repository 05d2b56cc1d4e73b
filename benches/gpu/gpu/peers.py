"""Peers and the GPU ring on the same files to the same output, 224 x 224 in float16 on the GPU; and decoding alone."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu import ring
from gpu.forebay import many
from gpu.service import serving
from gpu.task import Task

Step = Callable[[], int]
OURS = "gpu_ring_resized"


def run(task: Task) -> None:
    """Measures each, one after the other; one that is absent is null with the reason."""
    results, lengths = task.results, task.lengths
    with results.attempt(OURS):
        ring.requirements()
        results.rates(OURS, _ours(task))
    files = [picture.read_bytes() for picture in task.pictures]
    for name, make in PEERS.items():
        with results.attempt(name, seconds=60 + 4 * lengths.seconds * lengths.rounds):
            step = make(files, lengths.batch)
            results.rates(name, [_rate(step, lengths.seconds) for _ in range(lengths.rounds)])
            print(f"{name}: {results.median(name):.0f} pictures/s", flush=True)


def _ours(task: Task) -> list[float]:
    """The lane of streams alone, without the CPU, into a ring of the GPU."""
    lengths = task.lengths
    with many(task.pictures, lengths.entries) as source:
        config = ring.stream(OURS, source, lengths.batch, ring.RESIZED, "gpu:0")
        with (
            serving(task.forebay, config, [task.found.main_lane]) as service,
            ring.loading(service, OURS, "gpu:0") as batches,
        ):
            rates = [ring.rate(batches, lengths.seconds) for _ in range(lengths.rounds)]
    print(f"{OURS}: {max(rates):.0f} pictures/s", flush=True)
    return rates


def _batches(files: list[bytes], batch: int) -> list[list[bytes]]:
    count = -(-batch // len(files))
    return [(files * (count + 1))[start : start + batch] for start in range(0, len(files), max(1, len(files) // 4))]


def _rate(step: Step, seconds: int) -> float:
    step()
    pictures, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        pictures += step()
    return pictures / (time.perf_counter() - begun)


def _cycle(batches: list[Any]) -> Callable[[], Any]:
    turn = iter(range(1 << 62))
    return lambda: batches[next(turn) % len(batches)]


def _torchvision(files: list[bytes], batch: int, resized: bool = True) -> Step:
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg

    batches = [
        [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in each] for each in _batches(files, batch)
    ]
    following = _cycle(batches)

    def step() -> int:
        decoded = decode_jpeg(following(), mode=ImageReadMode.RGB, device="cuda")
        if resized:
            _resized(decoded)
        torch.cuda.synchronize()
        return len(decoded)

    return step


def _resized(pictures: list[Any]) -> object:
    """Channels first, to what the ring has."""
    import torch
    from torchvision.transforms.v2.functional import resize

    return torch.stack([resize(picture, [224, 224], antialias=True) for picture in pictures]).half()


def _nvimagecodec(files: list[bytes], batch: int, resized: bool = True) -> Step:
    import torch

    _nvjpeg()
    from nvidia import nvimgcodec

    # Without a kind that decodes on the CPU: a peer that falls back to it is not what is measured.
    kinds = nvimgcodec.BackendKind
    gpu = [kinds.HW_GPU_ONLY, kinds.GPU_ONLY, kinds.HYBRID_CPU_GPU]
    decoder = nvimgcodec.Decoder(backends=[nvimgcodec.Backend(kind) for kind in gpu])
    following = _cycle(_batches(files, batch))

    def step() -> int:
        decoded = decoder.decode(following())
        if any(picture is None for picture in decoded):
            raise RuntimeError("it left pictures undecoded on the GPU")
        if resized:
            _resized([torch.as_tensor(picture).permute(2, 0, 1) for picture in decoded])
        torch.cuda.synchronize()
        return len(decoded)

    return step


def _nvjpeg() -> None:
    """Loads a package's nvJPEG, so that nvImageCodec's extension finds it by its name."""
    for folder in sys.path:
        for file in sorted(Path(folder).glob("nvidia/*/lib/libnvjpeg.so.*")):
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
                return


PEERS: dict[str, Callable[[list[bytes], int], Step]] = {
    "torchvision": _torchvision,
    "torchvision_decode": lambda files, batch: _torchvision(files, batch, resized=False),
    "nvimagecodec": _nvimagecodec,
    "nvimagecodec_decode": lambda files, batch: _nvimagecodec(files, batch, resized=False),
}
