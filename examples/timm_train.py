"""Trains a model of timm, in the shape of its own train.py.

`python examples/timm_train.py /data` reads `/data/train` and `/data/val`, each of which has a folder for each class. It
needs `timm`. With `--loader timm`, timm's own loader reads them; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3
from torch import nn


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Trains a model of timm on folders of pictures.")
    parser.add_argument("data", type=Path, help="folder with train/ and val/")
    parser.add_argument("--loader", choices=("forebay", "timm"), default="forebay", help="whose loader is used")
    parser.add_argument("--model", default="resnet18", help="a model of timm")
    parser.add_argument("--size", type=int, default=224, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256, help="an even number, for mixup")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--mixup-alpha", type=float, default=0.2, help="0 mixes nothing")
    parser.add_argument("--ema-decay", type=float, default=0.99, help="of the averaged model, in each step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling, no augmentation, no mixup")
    parser.add_argument(
        "--resume", type=Path, help="checkpoint, which is written after each epoch and read at the start"
    )
    parser.add_argument("--save-every", type=int, metavar="STEPS", help="write the checkpoint within epochs too")
    parser.add_argument("--stop-after", type=int, help="end after this epoch, as an interrupted job would")
    parser.add_argument(
        "--die-at", type=int, metavar="STEP", help="kill the process then, as the loss of a machine would"
    )
    args = parser.parse_args(words)
    if args.save_every and not args.resume:
        parser.error("--save-every: name the checkpoint with --resume")
    return args


def loader_of(args: argparse.Namespace, part: str, *, is_training: bool) -> Any:  # noqa: ANN401 - either loader
    """The batches of `train` or `val`."""
    folder, shared = args.data / part, {"batch_size": args.batch_size, "num_workers": args.workers}
    if args.loader == "forebay":
        from forebay import recipes
        from forebay.torch import DataLoader

        order = {"shuffle": is_training, "drop_last": is_training, "seed": args.seed}
        transform = recipes.timm_train(args.size) if is_training else recipes.timm_eval(args.size, crop_pct=1.0)
        return DataLoader(folder, transform=transform, dtype="float32", **order, **shared)
    from timm.data import ImageDataset, create_loader

    kind = {"is_training": is_training, "interpolation": "random" if is_training else "bicubic", "crop_pct": 1.0}
    return create_loader(ImageDataset(str(folder)), (3, args.size, args.size), use_prefetcher=False, **kind, **shared)


def train_one_epoch(
    model: nn.Module,
    averaged: ModelEmaV3,
    batches: Iterable[Sequence[torch.Tensor]],
    optimizer: torch.optim.Optimizer,
    mixup: Mixup | None,
) -> Iterator[float]:
    """Trains on every batch, and gives the loss of each after its step."""
    model.train()
    loss_of = SoftTargetCrossEntropy() if mixup else nn.CrossEntropyLoss()
    device = next(model.parameters()).device
    for images, labels in batches:
        images, labels = images.to(device), labels.to(device)
        if mixup:
            images, labels = mixup(images, labels)
        loss = loss_of(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        averaged.update(model)
        yield loss.item()


@torch.inference_mode()
def validate(model: nn.Module, batches: Iterable[Sequence[torch.Tensor]]) -> tuple[int, int]:
    """How many pictures the model gets right, and of how many."""
    model.eval()
    right, count, device = 0, 0, next(model.parameters()).device
    for images, labels in batches:
        right += int((model(images.to(device)).argmax(1).cpu() == labels).sum())
        count += len(labels)
    return right, count


def random_state() -> dict[str, Any]:
    """Where the random numbers of PyTorch are, and those of numpy, which timm's mixup draws."""
    kind, keys, *rest = np.random.get_state()
    return {"torch": torch.get_rng_state(), "numpy": [kind, keys.tolist(), *rest]}


def set_random_state(state: dict[str, Any]) -> None:
    """Goes on with random numbers where `random_state()` was."""
    torch.set_rng_state(state["torch"].cpu())
    np.random.set_state(state["numpy"])


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, with a line for each epoch, and gives what was printed."""
    args = arguments(words)
    timm.utils.random_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train = loader_of(args, "train", is_training=not args.plain)
    val = loader_of(args, "val", is_training=False)
    folders = [entry for entry in (args.data / "val").iterdir() if entry.is_dir()]
    pictures = sum(1 for folder in folders for _ in folder.iterdir())
    is_mixed = args.mixup_alpha and not args.plain
    mixup = Mixup(mixup_alpha=args.mixup_alpha, label_smoothing=0.0, num_classes=len(folders)) if is_mixed else None
    model = timm.create_model(args.model, num_classes=len(folders)).to(device)
    averaged = ModelEmaV3(model, decay=args.ema_decay)
    optimizer = create_optimizer_v2(model, opt="sgd", lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = CosineLRScheduler(optimizer, t_initial=args.epochs)
    kept = {"model": model, "averaged": averaged, "optimizer": optimizer, "scheduler": scheduler}

    if hasattr(train, "state_dict"):
        kept["data"] = train
    elif args.save_every:
        print("this loader has no state: checkpoints are written after whole epochs only", flush=True)
        args.save_every = None

    first, step, report = 0, 0, {"losses": [], "right": [], "validated": []}

    def save(epoch: int) -> None:
        """Writes the checkpoint of a job that goes on with the rest of an epoch."""
        partial = args.resume.with_suffix(".partial")
        states = {name: part.state_dict() for name, part in kept.items()}
        torch.save({"epoch": epoch, "step": step, "random": random_state(), **states}, partial)
        partial.replace(args.resume)

    if args.resume and args.resume.exists():
        checkpoint = torch.load(args.resume, weights_only=True, map_location=device)
        for name, part in kept.items():
            part.load_state_dict(checkpoint[name])
        first, step = checkpoint["epoch"], checkpoint["step"]
        set_random_state(checkpoint["random"])
    for epoch in range(first, args.epochs):
        if hasattr(train.sampler, "set_epoch"):
            train.sampler.set_epoch(epoch)
        losses = []
        for loss in train_one_epoch(model, averaged, train, optimizer, mixup):
            losses.append(loss)
            step += 1
            # The checkpoint of an epoch's last step is the one after the epoch.
            if args.save_every and step % args.save_every == 0 and step % len(train):
                save(epoch)
            if step == args.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        if not losses:
            raise SystemExit("there are fewer pictures than one batch has: give a smaller --batch-size")
        scheduler.step(epoch + 1)
        right, count = validate(averaged, val)
        if count != pictures:
            raise RuntimeError(f"validation has read {count} pictures of {pictures}")
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, {right} right of {count}", flush=True)
        report["losses"] += losses
        report["right"].append(right)
        report["validated"].append(count)
        if args.resume:
            save(epoch + 1)
        if epoch == args.stop_after:
            break
    return report


if __name__ == "__main__":
    print(json.dumps(main()))
