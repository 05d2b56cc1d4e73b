"""Batches on the GPU by each ring, how fast a ring is copied from, and a training loop on each kind of data."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpu import training
from gpu.forebay import Forebay, many
from gpu.report import Results
from gpu.service import serving
from gpu.training import Batches

if TYPE_CHECKING:
    import torch

BATCH = 256
ENTRIES = 50_000
# Figures of this part; rates of batches stand among all rates.
RATES = ("host_ring", "host_ring_pinned", "gpu_ring")
STREAM = """\
[streams.{name}]
source = "{source}"
batch_size = {batch}
size = 224
dtype = "float16"
layout = "NCHW"
shuffle = true
placement = "{placement}"
"""


def run(forebay: Forebay, pictures: list[Path], options: argparse.Namespace, results: Results) -> None:
    """Measures; what cannot be had is null with its reason."""
    try:
        import forebay as client
        import torch
    except ImportError as error:
        reason = f"this Python has no {error.name}; FOREBAY_PYTHON names one with torch, torchvision and the wheel"
        return _absent(reason, results)
    if not torch.cuda.is_available():
        return _absent("torch sees no GPU", results)
    with many(pictures, ENTRIES) as source, serving(forebay, _config(source)) as service:

        def loading(name: str) -> contextlib.AbstractContextManager[Batches]:
            return _loader(client, name, service.socket)

        rounds: dict[str, list[float]] = {name: [] for name in RATES}
        for name in RATES * options.rounds:
            try:
                with loading(name) as batches:
                    rounds[name].append(_rate(batches, options.seconds))
            except Exception as error:  # Whatever a ring raises is why its figure is missing.
                results.absent(name, f"{type(error).__name__}: {error}")
        for name, rates in rounds.items():
            if rates:
                results.rates(name, rates)
        results.table("copies", _copies(client, service.socket))
        results.table("training", training.run(loading, RATES, pictures, BATCH))
    return None


def _absent(reason: str, results: Results) -> None:
    for name in RATES:
        results.absent(name, reason)


def _config(source: Path) -> str:
    """A stream for each ring."""
    return "".join(
        STREAM.format(name=name, source=source, batch=BATCH, placement="gpu:0" if name == "gpu_ring" else "host")
        for name in RATES
    )


@contextlib.contextmanager
def _loader(client: ModuleType, name: str, socket: Path) -> Iterator[Batches]:
    """Batches of a stream as tensors on the GPU."""
    # Where CUDA has not been started yet, the daemon is told of GPUs only when they are asked for.
    placement = "gpu:0" if name == "gpu_ring" else "host"
    with client.Loader(f"stream:{name}", socket=socket, placement=placement) as loader:
        if name == "host_ring_pinned":
            loader.pin()
        # One iterator is one epoch.
        batches = itertools.chain.from_iterable(itertools.repeat(loader.torch(device="cuda")))
        yield lambda: next(batches).images


def _rate(batches: Batches, seconds: float) -> float:
    import torch

    batches()
    torch.cuda.synchronize()
    pictures, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        pictures += len(batches())
    torch.cuda.synchronize()
    return pictures / (time.perf_counter() - begun)


def _copies(client: ModuleType, socket: Path) -> list[dict[str, Any]]:
    """GB/s to the GPU: from PyTorch's pinned memory, from the ring as it is, from the ring when it is pinned."""
    import torch

    rows = []
    target = torch.empty((BATCH, 3, 224, 224), dtype=torch.float16, device="cuda")

    def row(name: str, source: torch.Tensor) -> None:
        def once() -> float:
            torch.cuda.synchronize()
            begun = time.perf_counter()
            for _ in range(20):
                target[: len(source)].copy_(source, non_blocking=True)
            torch.cuda.synchronize()
            return 20 * source.nbytes / (time.perf_counter() - begun) / 1e9

        once()
        rows.append({"from": name, "gb_per_second": [once() for _ in range(5)]})

    row("pinned memory", torch.empty(target.shape, dtype=torch.float16, pin_memory=True))
    with client.Loader("stream:host_ring", socket=socket) as loader:
        for name in ("ring", "pinned ring"):
            if name == "pinned ring":
                loader.pin()
            batch = next(iter(loader.torch(copy=False)))
            row(name, batch.images)
            del batch
    return rows
