"""Steps of ResNet-50, by where their pictures come from, and with lanes at work beside them."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu.forebay import many
from gpu.lanes import told
from gpu.ring import RATES, Batches, Rings
from gpu.task import Task

if TYPE_CHECKING:
    import torch

DEVICE = "cuda"
SIDE = 224
PLAIN = "on the GPU already"


def run(task: Task, rings: Rings) -> None:
    """A row for each kind of pictures, with the milliseconds of a step, round by round."""
    import torch

    results = task.results
    rows: list[dict[str, Any]] = []
    made = torch.randn((task.lengths.batch, 3, SIDE, SIDE), dtype=torch.float16, device=DEVICE)

    def row(name: str, batches: Batches) -> None:
        times = Loop(task, batches).rounds()
        rows.append({"pictures": name, "milliseconds": times})
        results.table("training", rows)
        print(f"{name}: {min(times):.2f} ms", flush=True)

    with results.attempt(PLAIN):
        row(PLAIN, lambda: made)
    for name in RATES:
        with results.attempt(f"training with {name}"), rings.loading(name) as batches:
            row(name, batches)
        with results.attempt(f"{PLAIN}, after {name}"):
            row(f"{PLAIN}, after {name}", lambda: made)
    with results.attempt("training beside lanes"):
        rows.append(_beside(task, lambda: made))
        results.table("training", rows)
    for name, peer in {"torchvision on the GPU": _on_gpu, "torchvision's DataLoader": _data_loader}.items():
        with results.attempt(name), peer(task) as batches:
            row(name, batches)


class Loop:
    """A model that is trained on whatever batches come."""

    def __init__(self, task: Task, batches: Batches) -> None:
        import torch
        from torchvision.models import resnet50

        torch.manual_seed(0)
        self._lengths = task.lengths
        self._batches = batches
        self._model = resnet50().to(DEVICE, memory_format=torch.channels_last)
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=0.01)

    def rounds(self) -> list[float]:
        """Milliseconds of a step, for each round, after those that warm it up."""
        self.round(self._lengths.warm)
        return [self.round(self._lengths.steps) for _ in range(self._lengths.rounds)]

    def round(self, steps: int) -> float:
        """Nothing is waited for within it: copies and kernels of several steps overlap, as they do in training."""
        import torch

        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(steps):
            self._step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begun) * 1000 / steps

    def _step(self) -> None:
        import torch

        images = self._batches()
        labels = torch.arange(len(images), device=DEVICE)
        with torch.autocast(DEVICE, dtype=torch.float16):
            scores = self._model(images.to(memory_format=torch.channels_last))
            loss = torch.nn.functional.cross_entropy(scores, labels)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()


def _beside(task: Task, batches: Batches) -> dict[str, Any]:
    """The loop on pictures that are there, while another process decodes as fast as it can by the lane of streams."""
    lane = task.found.main_lane
    loop = Loop(task, batches)
    loop.round(task.lengths.warm)
    with many(task.pictures, task.lengths.entries) as folder:
        command = [task.forebay.binary, "bench", folder, "--lanes", lane, "--seconds", str(task.lengths.beside_seconds)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            begun, times = time.monotonic(), []
            while process.poll() is None:
                settled = time.monotonic() - begun > task.lengths.settled_seconds
                spent = loop.round(max(1, task.lengths.steps // 5))
                if settled and process.poll() is None:
                    times.append(spent)
            assert process.stdout is not None
            figures = told(process.stdout.read())
        finally:
            process.kill()
            process.wait()
    if not times:
        raise RuntimeError("the benchmark beside the loop ended before it ran at full rate")
    return {"pictures": f"beside the {lane} lane", "milliseconds": times, "beside": figures}


def _as_trained() -> Callable[[torch.Tensor], torch.Tensor]:
    """A picture as the streams of this part give it."""
    import torch
    from torchvision.transforms import v2

    crop = v2.RandomResizedCrop([SIDE, SIDE], antialias=True)
    return v2.Compose([crop, v2.RandomHorizontalFlip(), v2.ToDtype(torch.float16, scale=True)])


@contextlib.contextmanager
def _on_gpu(task: Task) -> Iterator[Batches]:
    """Files from memory, decoded and cropped on the GPU, in the trainer."""
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg

    files = itertools.cycle(
        [torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8) for path in task.pictures]
    )
    transform = _as_trained()

    def batches() -> torch.Tensor:
        decoded = decode_jpeg(list(itertools.islice(files, task.lengths.batch)), mode=ImageReadMode.RGB, device=DEVICE)
        return torch.stack([transform(picture) for picture in decoded])

    yield batches


class Files:
    """A dataset of pictures, again and again, decoded by the process that asks."""

    def __init__(self, pictures: list[Path], count: int) -> None:
        self._pictures = pictures
        self._count = count
        self._transform = _as_trained()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> torch.Tensor:
        from torchvision.io import ImageReadMode, decode_image

        path = self._pictures[number % len(self._pictures)]
        return self._transform(decode_image(str(path), mode=ImageReadMode.RGB))


@contextlib.contextmanager
def _data_loader(task: Task) -> Iterator[Batches]:
    """A worker on each core, and batches in pinned memory, which the trainer copies without waiting."""
    import torch

    lengths, workers = task.lengths, len(os.sched_getaffinity(0))
    dataset = Files(task.pictures, lengths.batch * (lengths.warm + lengths.rounds * lengths.steps))
    # Workers are made anew and not forked: this process uses CUDA.
    loader = torch.utils.data.DataLoader(
        dataset, lengths.batch, shuffle=True, num_workers=workers, pin_memory=True, multiprocessing_context="spawn"
    )
    following = iter(loader)
    yield lambda: next(following).to(DEVICE, non_blocking=True)
