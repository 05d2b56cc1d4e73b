"""Trains a small diffusion model on captioned pictures of different sizes, as diffusers' script does for SDXL.

Each batch has pictures of one bucket. The model gets what SDXL gets: a caption, and six numbers of each picture (its
size before, the corner of what is shown, and the bucket). Noise, times and dropped captions follow from the column
`draw`, so that a run that is resumed has the losses of one that was not stopped. The network is tiny, and its first
weights are random.

    forebay index FOLDER --sizes --columns caption=caption --output sizes.arrow
    python examples/diffusion.py FOLDER --index sizes.arrow --steps 50
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import forebay
import torch
from forebay import transforms
from torch import nn

TIMES = 1000
# The share of captions that are replaced by nothing, for guidance without a classifier.
DROPPED = 0.1
WORDS, WIDTH = 512, 32


class Denoiser(nn.Module):
    """A UNet of two levels. Its conditions are the time, the caption and SDXL's six numbers."""

    def __init__(self) -> None:
        super().__init__()
        # As `text_encoder`: the mean of what is learned for each word.
        self.words = nn.EmbeddingBag(WORDS, WIDTH, mode="mean")
        self.conditions = nn.Sequential(nn.Linear(WIDTH * 8, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.enter = nn.Conv2d(3, WIDTH, 3, padding=1)
        self.down = nn.Conv2d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.up = nn.ConvTranspose2d(WIDTH, WIDTH, 4, stride=2, padding=1)
        self.leave = nn.Conv2d(WIDTH * 2, 3, 3, padding=1)

    def forward(
        self, noisy: torch.Tensor, times: torch.Tensor, captions: Sequence[str], numbers: torch.Tensor
    ) -> torch.Tensor:
        """The noise of pictures: `(n, 3, height, width)`.

        Args:
            noisy: The pictures with their noise, of the same shape.
            times: `(n,)` of int64, from 0 to TIMES - 1.
            captions: `n` texts.
            numbers: `(n, 6)`: size before, corner and bucket.
        """
        ids = [[word_number(word) for word in caption.split()] or [0] for caption in captions]
        offsets = torch.tensor([0, *map(len, ids)]).cumsum(0)[:-1]
        words = self.words(torch.tensor(list(chain(*ids))), offsets)
        waves = sinusoids(torch.cat([times[:, None], numbers], dim=1)).flatten(1)
        conditions = self.conditions(torch.cat([waves, words], dim=1))[:, :, None, None]
        entered = torch.relu(self.enter(noisy)) + conditions
        below = torch.relu(self.middle(torch.relu(self.down(entered))))
        return self.leave(torch.cat([entered, torch.relu(self.up(below))], dim=1))


def word_number(word: str) -> int:
    """The number of a word, in place of a tokenizer: from 1 to WORDS - 1."""
    return 1 + int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "little") % (WORDS - 1)


def sinusoids(numbers: torch.Tensor) -> torch.Tensor:
    """Waves of each number: `(n, count, WIDTH)`."""
    scales = torch.exp(torch.arange(WIDTH // 2) * (-math.log(10_000) / (WIDTH // 2)))
    angles = numbers[:, :, None] * scales
    return torch.cat([angles.sin(), angles.cos()], dim=2)


def choices(draws: torch.Tensor, shape: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, list[bool]]:
    """Noise, times and whether captions are dropped, all by each picture's own 64 random bits."""
    noise, times, dropped = [], [], []
    for draw in draws.tolist():
        generator = torch.Generator().manual_seed(draw)
        noise.append(torch.randn(shape[1:], generator=generator))
        times.append(torch.randint(TIMES, (), generator=generator))
        dropped.append(bool(torch.rand((), generator=generator) < DROPPED))
    return torch.stack(noise), torch.stack(times), dropped


def loss_of(model: Denoiser, batch: Any) -> torch.Tensor:  # noqa: ANN401 - its columns are those that were asked for
    """The mean error of the noise, over the pictures that are no copies."""
    noise, times, dropped = choices(batch.draw, batch.images.shape)
    kept = torch.cos(times / TIMES * math.pi / 2)[:, None, None, None]
    noisy = kept * batch.images + (1 - kept**2).sqrt() * noise
    captions = ["" if drop else caption for drop, caption in zip(dropped, batch.caption.text())]
    numbers = torch.cat([batch.sizes, batch.crop, batch.shown], dim=1)
    errors = (model(noisy, times, captions, numbers) - noise).square().mean(dim=(1, 2, 3))
    return (errors * batch.mask).sum() / batch.planned[0]


def loader_of(args: argparse.Namespace) -> forebay.Loader:
    """The batches, with pictures from -1 to 1."""
    return forebay.Loader(
        forebay.Source(args.folder, index=args.index),
        batch_size=args.batch_size,
        shuffle=True,
        seed=args.seed,
        buckets={"rule": "diffusers", "resolution": args.resolution, "crop": "random"},
        transform=[transforms.RandomHorizontalFlip(), transforms.Normalize((0.5,) * 3, (0.5,) * 3)],
        dtype="float32",
        layout="NCHW",
        targets=forebay.Targets(columns={"caption": "caption"}, draw=True),
    )


def main() -> None:
    """Trains, and prints each step as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="pictures, with a metadata.jsonl that has file_name and caption")
    parser.add_argument("--index", help="an index with their sizes; without it, that in the folder of indexes")
    parser.add_argument("--steps", type=int, default=50, help="steps of the whole run")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--resolution", type=int, default=64, help="a bucket has about its square in pixels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, help="where the run continues, and what is written at its end")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    with loader_of(args) as loader:
        step = 0
        if args.checkpoint is not None and args.checkpoint.exists():
            saved = torch.load(args.checkpoint)
            model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            loader.load_state_dict(json.loads(saved["data"]))
            step = saved["step"]
        while step < args.steps:
            for batch in loader.torch():
                loss = loss_of(model, batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                size = "x".join(map(str, batch.shown[0].tolist()))
                print(json.dumps({"step": step, "epoch": batch.epoch, "bucket": size, "loss": loss.item()}), flush=True)
                if step == args.steps:
                    break
        if args.checkpoint is not None:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save({**state, "data": json.dumps(loader.state_dict())}, args.checkpoint)


if __name__ == "__main__":
    main()
