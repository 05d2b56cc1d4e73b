"""Trains a Lightning module on a folder of pictures, with Forebay's DataLoader or PyTorch's.

`python examples/lightning_module.py /data/train /data/val` needs `lightning` 2.6 and `torchvision`. With `--loader
torch`, PyTorch's own DataLoader reads the pictures; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import EMAWeightAveraging, ModelCheckpoint
from torch import nn
from torch.utils.data import default_collate
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2


class Classifier(lightning.LightningModule):
    """A small network that counts what it gets right, of `pictures` pictures in each validation."""

    def __init__(self, size: int, classes: int, lr: float, pictures: int) -> None:
        super().__init__()
        self.lr, self.pictures = lr, pictures
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3 * size * size, 32), nn.ReLU(), nn.Linear(32, classes))
        self.report: dict[str, list[Any]] = {"losses": [], "right": [], "validated": []}
        self.right = self.validated = 0

    def training_step(self, batch: Sequence[torch.Tensor], _number: int) -> torch.Tensor:
        """The loss of a batch."""
        images, labels = batch
        loss = nn.functional.cross_entropy(self.net(images), labels)
        self.report["losses"].append(loss.item())
        return loss

    def on_validation_epoch_start(self) -> None:
        """Begins to count."""
        self.right = self.validated = 0

    def validation_step(self, batch: Sequence[torch.Tensor], _number: int) -> None:
        """Counts what is right, and of how many pictures."""
        images, labels = batch
        self.right += int((self.net(images).argmax(1) == labels).sum())
        self.validated += len(labels)

    def on_validation_epoch_end(self) -> None:
        """Lightning looks at a few batches before it trains; all other validations have read every picture."""
        if self.trainer.sanity_checking:
            return
        if self.validated != self.pictures:
            raise RuntimeError(f"validation has read {self.validated} pictures of {self.pictures}")
        self.report["right"].append(self.right)
        self.report["validated"].append(self.validated)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Mixup draws random numbers, of which Lightning keeps no state."""
        checkpoint["random"] = torch.get_rng_state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Goes on with the random numbers that would have come."""
        torch.set_rng_state(checkpoint["random"].cpu())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """What trains the weights."""
        return torch.optim.SGD(self.parameters(), lr=self.lr)


class CheckpointWithinEpochs(ModelCheckpoint):
    """Leaves out the last step of an epoch: validation has to follow it, and another checkpoint comes then."""

    def on_train_batch_end(self, trainer: lightning.Trainer, *given: Any) -> None:  # noqa: ANN401 - of Lightning
        """Writes in time."""
        if not trainer.is_last_batch:
            super().on_train_batch_end(trainer, *given)


class Death(lightning.Callback):
    """Kills the process after a step, if one is given."""

    def __init__(self, step: int | None) -> None:
        self.step = step

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: object) -> None:
        """Looks at the count of steps."""
        if trainer.global_step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Trains a Lightning module on folders of pictures.")
    parser.add_argument("train", type=Path, help="folder with class folders")
    parser.add_argument("val", type=Path, help="folder with the same class folders")
    parser.add_argument("--loader", choices=("forebay", "torch"), default="forebay", help="whose DataLoader is used")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--mixup-alpha", type=float, default=0.2, help="0 mixes nothing")
    parser.add_argument("--ema-decay", type=float, default=0.9, help="of the averaged weights, in each step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling, no random flips, no mixup")
    parser.add_argument("--resume", type=Path, help="checkpoint, a .ckpt: written after each epoch, read at the start")
    parser.add_argument("--save-every", type=int, metavar="STEPS", help="write the checkpoint within epochs too")
    parser.add_argument("--stop-after", type=int, help="end after this epoch, as an interrupted job would")
    parser.add_argument(
        "--die-at", type=int, metavar="STEP", help="kill the process then, as the loss of a machine would"
    )
    args = parser.parse_args(words)
    if args.save_every and not args.resume:
        parser.error("--save-every: name the checkpoint with --resume")
    return args


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, and gives the losses and what each validation counted."""
    args = arguments(words)
    if args.loader == "forebay":
        from forebay.torch import DataLoader
    else:
        from torch.utils.data import DataLoader

    lightning.seed_everything(args.seed)
    random = [] if args.plain else [transforms.RandomHorizontalFlip()]
    transform = transforms.Compose([transforms.Resize((args.size, args.size)), *random, transforms.ToTensor()])
    train, val = ImageFolder(args.train, transform), ImageFolder(args.val, transform)
    mixup = v2.MixUp(alpha=args.mixup_alpha or 1.0, num_classes=len(train.classes))

    def collate(batch: list[tuple[torch.Tensor, int]]) -> tuple[torch.Tensor, torch.Tensor]:
        return mixup(*default_collate(batch))

    shared = {"batch_size": args.batch_size, "num_workers": 1, "persistent_workers": True}
    mixes = collate if args.mixup_alpha and not args.plain else None
    trained = DataLoader(train, shuffle=not args.plain, drop_last=True, collate_fn=mixes, **shared)
    validated = DataLoader(val, shuffle=False, **shared)
    model = Classifier(args.size, len(train.classes), args.lr, len(val))
    callbacks: list[lightning.Callback] = [EMAWeightAveraging(decay=args.ema_decay), Death(args.die_at)]
    if args.resume:
        place = {"dirpath": args.resume.parent, "filename": args.resume.stem, "enable_version_counter": False}
        callbacks.append(ModelCheckpoint(**place, save_on_train_epoch_end=True))
        if args.save_every and hasattr(trained, "state_dict"):
            # Lightning puts the state of the DataLoader into its checkpoints.
            callbacks.append(CheckpointWithinEpochs(**place, every_n_train_steps=args.save_every))
        elif args.save_every:
            print("this loader has no state: checkpoints are written after whole epochs only", flush=True)
    trainer = lightning.Trainer(
        max_epochs=args.epochs if args.stop_after is None else args.stop_after + 1,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=args.resume is not None,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    resumed = args.resume if args.resume and args.resume.exists() else None
    trainer.fit(model, trained, validated, ckpt_path=resumed)
    return model.report


if __name__ == "__main__":
    print(json.dumps(main()))
