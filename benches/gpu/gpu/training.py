"""Steps of ResNet-50, by where their pictures come from: Forebay's rings, torchvision, or the GPU's own memory."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

DEVICE = "cuda"
SIDE = 224
# Steps before the loop is timed, and then.
WARM, STEPS = 10, 50

Batches = Callable[[], "torch.Tensor"]
Loading = Callable[[str], AbstractContextManager[Batches]]


def run(loading: Loading, rings: tuple[str, ...], pictures: list[Path], batch: int) -> list[dict[str, Any]]:
    """Milliseconds of each step; peers that cannot be had are a row with the reason."""
    import torch

    made = torch.randn((batch, 3, SIDE, SIDE), dtype=torch.float16, device=DEVICE)
    rows = [_steps("on the GPU already", lambda: made)]
    for name in rings:
        with loading(name) as batches:
            rows.append(_steps(name, batches))
        rows.append(_steps(f"on the GPU already, after {name}", lambda: made))
    # The lanes are kept busy by a trainer that throws its batches away.
    with loading("gpu_ring") as beside:
        rows.append(_steps("on the GPU already, decoding beside it", lambda: (beside(), made)[1]))
    return rows + peers(pictures, batch)


def peers(pictures: list[Path], batch: int) -> list[dict[str, Any]]:
    """Ways of torchvision to the same batches: random crops of the same files, resized, flipped, as float16."""
    rows = []
    for name, peer in {"torchvision on the GPU": _on_gpu, "torchvision's DataLoader": _data_loader}.items():
        try:
            with peer(pictures, batch) as batches:
                rows.append(_steps(name, batches))
        except Exception as error:  # Whatever a peer raises is why its figure is missing.
            rows.append({"pictures": name, "milliseconds": None, "reason": f"{type(error).__name__}: {error}"})
    return rows


def _steps(name: str, batches: Batches) -> dict[str, Any]:
    import torch
    from torchvision.models import resnet50

    torch.manual_seed(0)
    model = resnet50().to(DEVICE, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    times = []
    for number in range(WARM + STEPS):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        images = batches()
        labels = torch.arange(len(images), device=DEVICE)
        with torch.autocast(DEVICE, dtype=torch.float16):
            scores = model(images.to(memory_format=torch.channels_last))
            loss = torch.nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        if number >= WARM:
            times.append((time.perf_counter() - begun) * 1000)
    return {"pictures": name, "milliseconds": times}


def _as_trained() -> Callable[[torch.Tensor], torch.Tensor]:
    """A picture as the streams of this part give it."""
    import torch
    from torchvision.transforms import v2

    crop = v2.RandomResizedCrop([SIDE, SIDE], antialias=True)
    return v2.Compose([crop, v2.RandomHorizontalFlip(), v2.ToDtype(torch.float16, scale=True)])


@contextlib.contextmanager
def _on_gpu(pictures: list[Path], batch: int) -> Iterator[Batches]:
    """Files from memory, decoded and cropped on the GPU, in the trainer."""
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg

    files = itertools.cycle([torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8) for path in pictures])
    transform = _as_trained()

    def batches() -> torch.Tensor:
        decoded = decode_jpeg(list(itertools.islice(files, batch)), mode=ImageReadMode.RGB, device=DEVICE)
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
def _data_loader(pictures: list[Path], batch: int) -> Iterator[Batches]:
    """A worker on each core, and batches in pinned memory, which the trainer copies without waiting."""
    import torch

    workers = len(os.sched_getaffinity(0))
    dataset = Files(pictures, batch * (WARM + STEPS))
    # Workers are made anew and not forked: this process uses CUDA.
    loader = torch.utils.data.DataLoader(
        dataset, batch, shuffle=True, num_workers=workers, pin_memory=DEVICE == "cuda", multiprocessing_context="spawn"
    )
    following = iter(loader)
    yield lambda: next(following).to(DEVICE, non_blocking=True)
