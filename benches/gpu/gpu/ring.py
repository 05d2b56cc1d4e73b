"""Batches on the GPU by each ring, and how fast a ring is copied from."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu.forebay import many
from gpu.results import AbsentError
from gpu.service import Service, serving
from gpu.task import Task

if TYPE_CHECKING:
    import torch

# One batch after the other, as tensors on the GPU.
Batches = Callable[[], "torch.Tensor"]
# Figures of this part; rates of batches stand among all rates.
PINNED = "host_ring_pinned"
RATES = ("host_ring", PINNED, "gpu_ring")
STREAM = """\
[streams.{name}]
source = "{source}"
batch_size = {batch}
{transform}
dtype = "float16"
layout = "NCHW"
shuffle = true
placement = "{placement}"
pin_memory = {pin}
"""
# What batches become for training, and what peers make of whole pictures.
TRAINING = "size = 224"
RESIZED = "transform = [{ resize = { size = [224, 224] } }]"
COPIES, COPY_ROUNDS = 20, 5


def requirements() -> None:
    """Raises the reason why there are no batches on a GPU here."""
    try:
        import forebay  # noqa: F401
        import torch
    except ImportError as error:
        reason = f"this Python has no {error.name}; FOREBAY_PYTHON names one with torch, torchvision and the wheel"
        raise AbsentError(reason) from error
    if not torch.cuda.is_available():
        raise AbsentError("torch sees no GPU")


class Rings:
    """A stream for each ring. Those of the host have a service and that of the GPU another: one can be had alone."""

    def __init__(self, task: Task, source: Path, streams: contextlib.ExitStack) -> None:
        self._task = task
        self._source = source
        self._open = streams
        self._services: dict[str, Service] = {}

    def service(self, placement: str) -> Service:
        """The one for a placement, started when it is first asked for."""
        if placement not in self._services:
            names = [name for name in RATES if _placement(name) == placement]
            config = "".join(
                stream(name, self._source, self._task.lengths.batch, TRAINING, placement) for name in names
            )
            lanes = self._task.found.together
            self._services[placement] = self._open.enter_context(serving(self._task.forebay, config, lanes))
        return self._services[placement]

    def loading(self, name: str) -> contextlib.AbstractContextManager[Batches]:
        """Batches of a ring as tensors on the GPU."""
        return loading(self.service(_placement(name)), name, _placement(name), pin=name == PINNED)


def run(task: Task, rings: Rings) -> None:
    """Rates of all rings, in turn, and then of copies; what cannot be had is null with its reason."""
    results = task.results
    rounds: dict[str, list[float]] = {name: [] for name in RATES}
    for name in RATES * task.lengths.rounds:
        with results.attempt(name), rings.loading(name) as batches:
            rounds[name].append(rate(batches, task.lengths.seconds))
            results.rates(name, rounds[name])
            print(f"{name}: {rounds[name][-1]:.0f} pictures/s", flush=True)
    rows: list[dict[str, Any]] = []
    for name, batch in {"pinned memory": _pinned, "ring": _in_ring, "pinned ring": _in_pinned_ring}.items():
        with results.attempt(f"copies from {name}"), batch(task, rings) as source:
            rows.append({"from": name, "gb_per_second": _copies(source)})
            results.table("copies", rows)


@contextlib.contextmanager
def streams(task: Task) -> Iterator[Rings]:
    """Streams over many files, whose services end with the body."""
    with many(task.pictures, task.lengths.entries) as source, contextlib.ExitStack() as opened:
        yield Rings(task, source, opened)


def stream(name: str, source: Path, batch: int, transform: str, placement: str) -> str:
    """Its configuration."""
    form = {"batch": batch, "transform": transform, "placement": placement}
    return STREAM.format(name=name, source=source, pin=str(name == PINNED).lower(), **form)


@contextlib.contextmanager
def loading(service: Service, name: str, placement: str, pin: bool = False) -> Iterator[Batches]:
    """Batches of a service's stream as tensors on the GPU."""
    import forebay

    # Where CUDA has not been started yet, the daemon is told of GPUs only when they are asked for.
    with forebay.Loader(f"stream:{name}", socket=service.socket, placement=placement) as loader:
        if pin:
            loader.pin()
        # One iterator is one epoch.
        batches = itertools.chain.from_iterable(itertools.repeat(loader.torch(device="cuda")))
        yield lambda: next(batches).images


def rate(batches: Batches, seconds: float) -> float:
    """Pictures per second, until all are on the GPU."""
    import torch

    batches()
    torch.cuda.synchronize()
    pictures, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        pictures += len(batches())
    torch.cuda.synchronize()
    return pictures / (time.perf_counter() - begun)


def _placement(name: str) -> str:
    return "gpu:0" if name == "gpu_ring" else "host"


@contextlib.contextmanager
def _pinned(task: Task, _: Rings) -> Iterator[torch.Tensor]:
    import torch

    yield torch.empty((task.lengths.batch, 3, 224, 224), dtype=torch.float16, pin_memory=True)


@contextlib.contextmanager
def _in_ring(_: Task, rings: Rings, name: str = "host_ring") -> Iterator[torch.Tensor]:
    import forebay

    with forebay.Loader(f"stream:{name}", socket=rings.service("host").socket) as loader:
        if name == PINNED:
            loader.pin()
        yield next(iter(loader.torch(copy=False))).images


def _in_pinned_ring(task: Task, rings: Rings) -> contextlib.AbstractContextManager[torch.Tensor]:
    return _in_ring(task, rings, PINNED)


def _copies(source: torch.Tensor) -> list[float]:
    """GB/s of copies to the GPU, of which the first are not counted."""
    import torch

    target = torch.empty(source.shape, dtype=torch.float16, device="cuda")

    def once() -> float:
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(COPIES):
            target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        return COPIES * source.nbytes / (time.perf_counter() - begun) / 1e9

    once()
    return [once() for _ in range(COPY_ROUNDS)]
