"""Batches on the GPU by each ring, how fast a ring is copied from, and a training loop on each kind of data."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpu.forebay import Forebay, many
from gpu.report import Results

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
# Steps of the training loop before it is timed, and then.
WARM, STEPS = 10, 50

Batches = Callable[[], "torch.Tensor"]


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
    with many(pictures, ENTRIES) as source, _daemon(forebay, source) as socket:
        rounds: dict[str, list[float]] = {name: [] for name in RATES}
        for name in RATES * options.rounds:
            try:
                with _loader(client, name, socket) as batches:
                    rounds[name].append(_rate(batches, options.seconds))
            except Exception as error:  # Whatever a ring raises is why its figure is missing.
                results.absent(name, f"{type(error).__name__}: {error}")
        for name, rates in rounds.items():
            if rates:
                results.rates(name, rates)
        results.table("copies", _copies(client, socket))
        results.table("training", _training(client, socket, pictures))
    return None


def _absent(reason: str, results: Results) -> None:
    for name in RATES:
        results.absent(name, reason)


@contextlib.contextmanager
def _daemon(forebay: Forebay, source: Path) -> Iterator[Path]:
    """A service with a stream for each ring, decoded by hardware and CPU."""
    with tempfile.TemporaryDirectory(prefix="forebay-gpu-") as folder:
        config, sockets = Path(folder) / "forebay.toml", Path(folder) / "sockets"
        text = '[decode]\nlanes = ["hardware", "cpu"]\n'
        text += f'[control]\ndir = "{sockets}"\n[coordinator]\npath = "{folder}/ledgers"\n'
        for name in RATES:
            placement = "gpu:0" if name == "gpu_ring" else "host"
            text += STREAM.format(name=name, source=source, batch=BATCH, placement=placement)
        config.write_text(text)
        log = Path(folder) / "log"
        with log.open("w") as said:
            process = subprocess.Popen([forebay.binary, "serve", "--config", config], stderr=said)
        try:
            while " ready " not in log.read_text():
                if process.poll() is not None:
                    raise RuntimeError(f"forebay serve: {log.read_text().strip()}")
                time.sleep(0.1)
            yield sockets / "forebay.sock"
        finally:
            process.terminate()
            process.wait(timeout=60)


@contextlib.contextmanager
def _loader(client: ModuleType, name: str, socket: Path) -> Iterator[Batches]:
    """Batches of a stream as tensors on the GPU."""
    # Where CUDA has not been started yet, the daemon is told of GPUs only when they are asked for.
    placement = "gpu:0" if name == "gpu_ring" else "host"
    with client.Loader(f"stream:{name}", socket=socket, placement=placement) as loader:
        if name == "host_ring_pinned":
            loader.pin()
        batches = iter(loader.torch(device="cuda"))
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


def _training(client: ModuleType, socket: Path, pictures: list[Path]) -> list[dict[str, Any]]:
    """Milliseconds of a step of ResNet-50, by where its pictures come from."""
    import torch

    made = torch.randn((BATCH, 3, 224, 224), dtype=torch.float16, device="cuda")
    rows = [_steps("on the GPU already", lambda: made)]
    for name in RATES:
        with _loader(client, name, socket) as batches:
            rows.append(_steps(name, batches))
        rows.append(_steps(f"on the GPU already, after {name}", lambda: made))
    # The lanes are kept busy by a trainer that throws its batches away.
    with _loader(client, "gpu_ring", socket) as beside:
        rows.append(_steps("on the GPU already, decoding beside it", lambda: (beside(), made)[1]))
    rows.append(_steps("torchvision on the GPU", _torchvision(pictures)))
    return rows


def _steps(name: str, batches: Batches) -> dict[str, Any]:
    import torch
    from torchvision.models import resnet50

    torch.manual_seed(0)
    model = resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    labels = torch.randint(0, 1000, (BATCH,), device="cuda")
    times = []
    for number in range(WARM + STEPS):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        images = batches()
        with torch.autocast("cuda", dtype=torch.float16):
            scores = model(images.to(memory_format=torch.channels_last))
            loss = torch.nn.functional.cross_entropy(scores, labels[: len(images)])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        if number >= WARM:
            times.append((time.perf_counter() - begun) * 1000)
    return {"pictures": name, "milliseconds": times}


def _torchvision(pictures: list[Path]) -> Batches:
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2.functional import resize

    files = itertools.cycle([torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8) for path in pictures])

    def batch() -> torch.Tensor:
        decoded = decode_jpeg(list(itertools.islice(files, BATCH)), mode=ImageReadMode.RGB, device="cuda")
        return torch.stack([resize(picture, [224, 224], antialias=True) for picture in decoded]).half()

    return batch
