"""Trains a Lightning module on a folder of pictures, with Forebay's DataLoader or PyTorch's.

`python examples/lightning_module.py /data/train /data/val` needs `lightning` and `torchvision`. With `--loader torch`,
PyTorch's own DataLoader reads the pictures; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning
import torch
from torch import nn
from torchvision import transforms
from torchvision.datasets import ImageFolder


class Classifier(lightning.LightningModule):
    """A small network that counts what it gets right."""

    def __init__(self, size: int, classes: int, lr: float) -> None:
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3 * size * size, 32), nn.ReLU(), nn.Linear(32, classes))
        self.losses: list[float] = []
        self.right = self.validated = 0

    def training_step(self, batch: Sequence[torch.Tensor], _number: int) -> torch.Tensor:
        """The loss of a batch."""
        images, labels = batch
        loss = nn.functional.cross_entropy(self.net(images), labels)
        self.losses.append(loss.item())
        return loss

    def on_validation_epoch_start(self) -> None:
        """Begins to count."""
        self.right = self.validated = 0

    def validation_step(self, batch: Sequence[torch.Tensor], _number: int) -> None:
        """Counts what is right, and of how many pictures."""
        images, labels = batch
        self.right += int((self.net(images).argmax(1) == labels).sum())
        self.validated += len(labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """What trains the weights."""
        return torch.optim.SGD(self.parameters(), lr=self.lr)


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, and gives the losses and what the last validation counted."""
    parser = argparse.ArgumentParser(description="Trains a Lightning module on folders of pictures.")
    parser.add_argument("train", type=Path, help="folder with class folders")
    parser.add_argument("val", type=Path, help="folder with the same class folders")
    parser.add_argument("--loader", choices=("forebay", "torch"), default="forebay", help="whose DataLoader is used")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling, and no random flips")
    args = parser.parse_args(words)
    if args.loader == "forebay":
        from forebay.torch import DataLoader
    else:
        from torch.utils.data import DataLoader

    lightning.seed_everything(args.seed)
    random = [] if args.plain else [transforms.RandomHorizontalFlip()]
    transform = transforms.Compose([transforms.Resize((args.size, args.size)), *random, transforms.ToTensor()])
    train, val = ImageFolder(args.train, transform), ImageFolder(args.val, transform)
    shared = {"batch_size": args.batch_size, "num_workers": 1, "persistent_workers": True}
    trained = DataLoader(train, shuffle=not args.plain, drop_last=True, **shared)
    validated = DataLoader(val, shuffle=False, **shared)
    model = Classifier(args.size, len(train.classes), args.lr)
    trainer = lightning.Trainer(
        max_epochs=args.epochs,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, trained, validated)
    return {"losses": model.losses, "right": model.right, "validated": model.validated}


if __name__ == "__main__":
    print(json.dumps(main()))
