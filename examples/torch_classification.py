"""Trains a classifier with PyTorch, in the shape of torchvision's classification reference.

`python examples/torch_classification.py /data` reads `/data/train` and `/data/val`, each of which has a folder for each
class. With `--loader torch`, PyTorch's own DataLoader reads them; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DistributedSampler, SequentialSampler, default_collate
from torchvision import models, transforms
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Trains a classifier on folders of pictures.")
    parser.add_argument("data", type=Path, help="folder with train/ and val/")
    parser.add_argument("--loader", choices=("forebay", "torch"), default="forebay", help="whose DataLoader is used")
    parser.add_argument("--model", default="resnet18", help='a model of torchvision, or "tiny"')
    parser.add_argument("--size", type=int, default=224, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--mixup-alpha", type=float, default=0.2, help="0 mixes nothing")
    parser.add_argument("--ema-decay", type=float, default=0.99, help="of the averaged model, in each step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling, no random crops and flips, no mixup")
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


def datasets(args: argparse.Namespace) -> tuple[ImageFolder, ImageFolder]:
    """The pictures for training and for validation, with their transforms."""
    values = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    whole = [transforms.Resize(args.size), transforms.CenterCrop(args.size)]
    random = [transforms.RandomResizedCrop(args.size), transforms.RandomHorizontalFlip()]
    train = ImageFolder(args.data / "train", transforms.Compose((whole if args.plain else random) + values))
    return train, ImageFolder(args.data / "val", transforms.Compose(whole + values))


def loaders(args: argparse.Namespace, train: ImageFolder, val: ImageFolder) -> tuple[Any, Any, DistributedSampler]:
    """The batches of both datasets, and the sampler that orders the first."""
    if args.loader == "forebay":
        from forebay.torch import DataLoader
    else:
        from torch.utils.data import DataLoader

    mixup = v2.MixUp(alpha=args.mixup_alpha or 1.0, num_classes=len(train.classes))

    def collate(batch: list[tuple[torch.Tensor, int]]) -> tuple[torch.Tensor, torch.Tensor]:
        return mixup(*default_collate(batch))

    # With one process, the sampler gives it everything; what matters here is `set_epoch()`.
    sampler = DistributedSampler(train, num_replicas=1, rank=0, shuffle=not args.plain, seed=args.seed)
    shared = {"batch_size": args.batch_size, "num_workers": args.workers, "pin_memory": torch.cuda.is_available()}
    mixes = collate if args.mixup_alpha and not args.plain else None
    trained = DataLoader(train, sampler=sampler, drop_last=True, collate_fn=mixes, **shared)
    validated = DataLoader(val, sampler=SequentialSampler(val), **shared)
    return trained, validated, sampler


def model_of(args: argparse.Namespace, classes: int) -> nn.Module:
    """A network with its first weights."""
    if args.model != "tiny":
        return models.get_model(args.model, weights=None, num_classes=classes)
    layers = [nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))


def train_one_epoch(
    model: nn.Module,
    averaged: AveragedModel,
    batches: Iterable[Sequence[torch.Tensor]],
    optimizer: torch.optim.Optimizer,
    device: torch.device,
) -> Iterator[float]:
    """Trains on every batch, and gives the loss of each after its step."""
    model.train()
    for images, labels in batches:
        loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        averaged.update_parameters(model)
        yield loss.item()


@torch.inference_mode()
def evaluate(model: nn.Module, batches: Iterable[Sequence[torch.Tensor]], device: torch.device) -> tuple[int, int]:
    """How many pictures the model gets right, and of how many."""
    model.eval()
    right, count = 0, 0
    for images, labels in batches:
        right += int((model(images.to(device)).argmax(1).cpu() == labels).sum())
        count += len(labels)
    return right, count


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, with a line for each epoch, and gives what was printed."""
    args = arguments(words)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, val = datasets(args)
    trained, validated, sampler = loaders(args, train, val)
    model = model_of(args, len(train.classes)).to(device)
    averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(args.ema_decay), use_buffers=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    kept = {"model": model, "averaged": averaged, "optimizer": optimizer, "scheduler": scheduler}

    if hasattr(trained, "state_dict"):
        kept["data"] = trained
    elif args.save_every:
        print("this loader has no state: checkpoints are written after whole epochs only", flush=True)
        args.save_every = None

    first, step, report = 0, 0, {"losses": [], "right": [], "validated": []}

    def save(epoch: int) -> None:
        """Writes the checkpoint of a job that goes on with the rest of an epoch."""
        partial = args.resume.with_suffix(".partial")
        states = {name: part.state_dict() for name, part in kept.items()}
        torch.save({"epoch": epoch, "step": step, "random": torch.get_rng_state(), **states}, partial)
        partial.replace(args.resume)

    if args.resume and args.resume.exists():
        checkpoint = torch.load(args.resume, weights_only=True, map_location=device)
        for name, part in kept.items():
            part.load_state_dict(checkpoint[name])
        first, step = checkpoint["epoch"], checkpoint["step"]
        torch.set_rng_state(checkpoint["random"].cpu())
    for epoch in range(first, args.epochs):
        sampler.set_epoch(epoch)
        losses = []
        for loss in train_one_epoch(model, averaged, trained, optimizer, device):
            losses.append(loss)
            step += 1
            # The checkpoint of an epoch's last step is the one after the epoch.
            if args.save_every and step % args.save_every == 0 and step % len(trained):
                save(epoch)
            if step == args.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        if not losses:
            raise SystemExit("there are fewer pictures than one batch has: give a smaller --batch-size")
        scheduler.step()
        right, count = evaluate(averaged, validated, device)
        if count != len(val):
            raise RuntimeError(f"validation has read {count} pictures of {len(val)}")
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
