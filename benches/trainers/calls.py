"""The time that a trainer waits for a batch that is ready: `next()` of Forebay, and what others have in its place."""

from __future__ import annotations

import contextlib
import importlib.util
import multiprocessing
import socket
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import forebay
import numpy as np
from measuring.limit import OverError, within

PLACES, SIDE = 256, 224
SHAPE = (PLACES, SIDE, SIDE, 3)
TAKEN = 200
# Seconds that the calls of one trainer may take together: a slow way is called less often.
ALL_CALLS = 40
# Seconds until a way that gives nothing is left out.
PATIENCE = 240
GOAL = "20 / 200"
# What a step reads: as many bytes as the caches of a core have.
WEIGHTS = np.ones(1 << 18, np.float32)


def table(folder: Path) -> None:
    """Prints a row for each way."""
    print(f"microseconds until a ready batch is there, p50 / p99 of {TAKEN} calls, or of those that {ALL_CALLS} s have")
    print("room for: of a trainer that computes between two calls, and of one that sleeps")
    print(f"{'':52}{'computes':>18}{'sleeps':>18}{'goal, below':>14}", flush=True)
    row("a packet that wakes nobody", timed(packet_call(wakes=False)))
    row("a packet to a process that sleeps: a receipt is one", timed(packet_call(wakes=True)))
    with loader_of(folder) as loader:
        row("Forebay, numpy", timed(lambda: loader.next()), GOAL)
    if importlib.util.find_spec("torch") is None:
        print("Forebay, torch, and PyTorch's DataLoader: skipped: torch is not installed")
    else:
        import torch

        row("torch.empty(0)", timed(lambda: torch.empty(0)))
        with loader_of(folder) as loader:
            batches = loader.torch(copy=False, elements=("images", "labels"))
            row("Forebay, torch, copy=False", timed(lambda: batches.next()), GOAL)
        row("PyTorch's DataLoader, one worker with whole batches", timed(torch_call()))
    row("multiprocessing.Queue, one writer", timed(queue_call()))
    if importlib.util.find_spec("tensorsocket") is None:
        print("TensorSocket: skipped: it is not installed")
    else:
        try:
            with within(PATIENCE):
                row("TensorSocket", timed(tensorsocket_call()))
        except OverError as over:
            print(f"TensorSocket: left out: {over}")
    print()


def loader_of(folder: Path) -> forebay.Loader:
    """Batches without end. One thread decodes, so that the trainer has a core."""
    return forebay.Loader(str(folder), batch_size=PLACES, size=SIDE, num_threads=1, last_batch_policy="drop")


def computes(seconds: float) -> None:
    """A training step on the CPU: reads numbers for so long."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        WEIGHTS.sum()


def timed(call: Callable[[], Any]) -> tuple[list[float], list[float]]:
    """Microseconds of each call, of a trainer that computes between two of them, and of one that sleeps.

    A step takes three times as long as a batch takes to make.
    """
    warm: list[float] = []
    while len(warm) < 10:
        began = time.perf_counter()
        if call() is not None:
            warm.append(time.perf_counter() - began)
    made = statistics.median(warm)
    step = max(3 * made, 0.02)
    calls = min(TAKEN, int(ALL_CALLS / (step + made)))
    return taken(call, calls, lambda: computes(step)), taken(call, calls, lambda: time.sleep(step))


def taken(call: Callable[[], Any], calls: int, step: Callable[[], None]) -> list[float]:
    """Microseconds of so many calls, each behind a step. Those that give None, at an epoch's end, do not count."""
    times: list[float] = []
    while len(times) < calls:
        step()
        began = time.perf_counter()
        batch = call()
        took = time.perf_counter() - began
        if batch is not None:
            times.append(took * 1e6)
        del batch
    return times


def torch_call() -> Callable[[], Any]:
    """The next batch of a DataLoader whose worker has made the batches already, and passes them by shared memory."""
    import torch

    class Ready(torch.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[torch.Tensor]:
            batch = torch.zeros(SHAPE, dtype=torch.uint8)
            while True:
                yield batch.clone()

    batches = iter(torch.utils.data.DataLoader(Ready(), batch_size=None, num_workers=1))
    return lambda: next(batches)


def fill(queue: multiprocessing.Queue) -> None:
    """Puts batches into a queue for ever."""
    batch = np.zeros(SHAPE, np.uint8)
    while True:
        queue.put(batch)


def queue_call() -> Callable[[], Any]:
    """The next batch of a queue, through which a process sends it."""
    queue = multiprocessing.Queue(maxsize=2)
    multiprocessing.Process(target=fill, args=(queue,), daemon=True).start()
    return queue.get


def swallow(end: socket.socket, wakes: bool) -> None:
    """Takes packets for ever. One that `wakes` waits for each; else it looks once a second, when nothing wakes it."""
    if wakes:
        while end.recv(64):
            pass
    end.setblocking(False)
    while True:
        time.sleep(1)
        with contextlib.suppress(BlockingIOError):
            while end.recv(64):
                pass


def packet_call(*, wakes: bool) -> Callable[[], Any]:
    """A packet on the kind of socket that daemons and trainers share. It `wakes` the other process, or does not."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    multiprocessing.Process(target=swallow, args=(theirs, wakes), daemon=True).start()
    return lambda: ours.send(bytes(64))


class Whole:
    """Batches that are there already, as the loader of a producer of TensorSocket."""

    def __len__(self) -> int:
        return 100 * TAKEN

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        import torch

        while True:
            yield torch.zeros(SHAPE, dtype=torch.uint8), torch.zeros(PLACES, dtype=torch.int64)


def produce() -> None:
    """Gives batches to the consumers of TensorSocket for ever, by the ports that it has by default."""
    from tensorsocket import TensorProducer

    # It keeps this many batches. With one, its producer fails.
    producer = TensorProducer(Whole(), rubber_band_pct=0, producer_batch_size=2)
    while True:
        for _ in producer:
            pass


def tensorsocket_call() -> Callable[[], Any]:
    """The next batch of a consumer of TensorSocket, which shares the memory of its producer."""
    # The forked child of a process that has used PyTorch may wait for a thread that it does not have.
    multiprocessing.get_context("spawn").Process(target=produce, daemon=True).start()
    from tensorsocket import TensorConsumer

    consumer = TensorConsumer(batch_size=PLACES)
    return lambda: next(consumer)


def row(name: str, times: tuple[list[float], list[float]], goal: str = "") -> None:
    """Prints p50 and p99 of both trainers."""
    columns = []
    for each in map(sorted, times):
        at = [each[(len(each) - 1) * part // 100] for part in (50, 99)]
        columns.append(" / ".join(f"{microseconds:,.0f}" for microseconds in at))
    print(f"{name:52}{columns[0]:>18}{columns[1]:>18}{goal:>14}", flush=True)
