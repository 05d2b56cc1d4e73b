"""Elastic training with Lightning: the job may go on with another number of ranks, in the middle of an epoch.

`torchrun --nproc_per_node=4 examples/elastic_lightning.py /data/pictures --checkpoint jobs/1` trains with 4 ranks. Stop
it, or kill it, and start it with 2: it goes on after the last checkpoint. Lightning keeps the DataLoader's state in its
checkpoints, and loads it on every rank.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path

import lightning
import torch
from forebay import Lockstep
from forebay.torch import DataLoader
from lightning.pytorch.callbacks import ModelCheckpoint

# 840 and its multiples can be divided by 1 to 8 ranks. This one is for small datasets.
GLOBAL_BATCH = 24
SIDE = 32


class Classifier(lightning.LightningModule):
    """A softmax regression that counts its steps."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(SIDE * SIDE * 3, classes)
        self.steps = 0

    def training_step(self, batch: list[torch.Tensor], _number: int) -> torch.Tensor:
        """The loss of a batch."""
        images, labels = batch
        self.steps += 1
        return torch.nn.functional.cross_entropy(self.layer(images.flatten(1).float() / 255), labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """What trains the weights."""
        return torch.optim.SGD(self.parameters(), lr=0.001)


class NodeLoss(lightning.Callback):
    """Kills the last rank after so many steps, as the loss of its node would."""

    def __init__(self, die_at: int | None) -> None:
        self.die_at = die_at

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: object) -> None:
        """Looks at the count of steps."""
        if trainer.global_step == self.die_at and trainer.global_rank == trainer.world_size - 1:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Trains, and prints what each rank has read since it began."""
    parser = argparse.ArgumentParser(description="Trains a softmax regression with Lightning and torchrun.")
    parser.add_argument("source", help="folder with class folders")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder for the job's state")
    parser.add_argument("--every", type=int, default=2, help="steps between checkpoints")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--die-at", type=int, help="kill a rank after so many steps, as a lost node would be")
    args = parser.parse_args()

    # With drop_last, no rank has copies at the end of an epoch. A rank's batch is its part of global_batch.
    loader = DataLoader(
        args.source,
        sharding=Lockstep(GLOBAL_BATCH),
        size=SIDE,
        shuffle=True,
        drop_last=True,
        epochs=args.epochs,
    )
    model = Classifier(len(loader.class_to_idx))
    ranks, here = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
    trainer = lightning.Trainer(
        strategy="ddp",
        devices=here,
        num_nodes=ranks // here,
        max_epochs=args.epochs,
        # The DataLoader knows its rank.
        use_distributed_sampler=False,
        callbacks=[
            ModelCheckpoint(args.checkpoint, save_last=True, every_n_train_steps=args.every),
            NodeLoss(args.die_at),
        ],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    # A job without a checkpoint begins anew.
    trainer.fit(model, loader, ckpt_path="last")
    # Lightning asks for nothing behind the last batch, which is consumed now.
    loader.loader.reset()
    # Each rank has a ledger of its own, which accounts for its part of each step since the checkpoint.
    audit = [each._asdict() for each in loader.loader.audit()]
    print(json.dumps({"rank": trainer.global_rank, "steps": model.steps, "audit": audit}), flush=True)
    loader.close()


if __name__ == "__main__":
    main()
