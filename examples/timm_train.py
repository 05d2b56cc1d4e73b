"""Trains a model of timm, in the shape of its own train.py.

`python examples/timm_train.py /data` reads `/data/train` and `/data/val`, each of which has a folder for each class. It
needs `timm`. With `--loader timm`, timm's own loader reads them; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

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
    parser.add_argument("--stop-after", type=int, help="end after this epoch, as an interrupted job would")
    return parser.parse_args(words)


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
) -> list[float]:
    """Trains on every batch, and gives the loss of each."""
    model.train()
    loss_of, losses = SoftTargetCrossEntropy() if mixup else nn.CrossEntropyLoss(), []
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
        losses.append(loss.item())
    if not losses:
        raise SystemExit("there are fewer pictures than one batch has: give a smaller --batch-size")
    return losses


@torch.inference_mode()
def validate(model: nn.Module, batches: Iterable[Sequence[torch.Tensor]]) -> tuple[int, int]:
    """How many pictures the model gets right, and of how many."""
    model.eval()
    right, count, device = 0, 0, next(model.parameters()).device
    for images, labels in batches:
        right += int((model(images.to(device)).argmax(1).cpu() == labels).sum())
        count += len(labels)
    return right, count


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

    first, report = 0, {"losses": [], "right": [], "validated": []}
    if args.resume and args.resume.exists():
        checkpoint = torch.load(args.resume, weights_only=True, map_location=device)
        for name, part in kept.items():
            part.load_state_dict(checkpoint[name])
        first = checkpoint["epoch"] + 1
    for epoch in range(first, args.epochs):
        if hasattr(train.sampler, "set_epoch"):
            train.sampler.set_epoch(epoch)
        losses = train_one_epoch(model, averaged, train, optimizer, mixup)
        scheduler.step(epoch + 1)
        right, count = validate(averaged, val)
        if count != pictures:
            raise RuntimeError(f"validation has read {count} pictures of {pictures}")
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, {right} right of {count}", flush=True)
        report["losses"] += losses
        report["right"].append(right)
        report["validated"].append(count)
        if args.resume:
            partial = args.resume.with_suffix(".partial")
            torch.save({"epoch": epoch, **{name: part.state_dict() for name, part in kept.items()}}, partial)
            partial.replace(args.resume)
        if epoch == args.stop_after:
            break
    return report


if __name__ == "__main__":
    print(json.dumps(main()))
