"""Elastic training with Accelerate: the job may go on with another number of ranks, in the middle of an epoch.

`torchrun --nproc_per_node=4 examples/elastic_accelerate.py /data/pictures --checkpoint jobs/1` trains with 4 ranks, and
so does `accelerate launch`. Stop it, or kill it, and start it with 2: it goes on after the last checkpoint. Accelerate
saves the Loader's state with the model, because the Loader is registered for that.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
from pathlib import Path

import forebay
import torch
from accelerate import Accelerator

# 840 and its multiples can be divided by 1 to 8 ranks. This one is for small datasets.
GLOBAL_BATCH = 24
SIDE = 32


class Progress:
    """The steps of the job so far. They are saved with the model."""

    def __init__(self) -> None:
        self.steps = 0

    def state_dict(self) -> dict[str, int]:
        """For `Accelerator.save_state()`."""
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """For `Accelerator.load_state()`."""
        self.steps = state["steps"]


def save(accelerator: Accelerator, folder: Path, steps: int) -> None:
    """Keeps one checkpoint, which is whole at any moment."""
    partial = folder / "partial"
    accelerator.wait_for_everyone()
    accelerator.save_state(str(partial))
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        partial.replace(folder / f"step-{steps:08}")
        for old in checkpoints(folder)[:-1]:
            shutil.rmtree(old)
    accelerator.wait_for_everyone()


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, the latest one last."""
    return sorted(folder.glob("step-*"))


def main() -> None:
    """Trains, and prints what each rank has read since it began."""
    parser = argparse.ArgumentParser(description="Trains a softmax regression with Accelerate.")
    parser.add_argument("source", help="folder with class folders")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder for the job's state")
    parser.add_argument("--every", type=int, default=2, help="steps between checkpoints")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--die-at", type=int, help="kill a rank after so many steps, as a lost node would be")
    args = parser.parse_args()

    # Without a GPU, it would take each rank for a job of its own.
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    loader = forebay.Loader(
        args.source, sharding=forebay.Lockstep(GLOBAL_BATCH), size=SIDE, shuffle=True, epochs=args.epochs
    )
    layer = torch.nn.Linear(SIDE * SIDE * 3, len(loader.classes))
    # The Loader is not prepared: it knows its rank, and gives tensors for the device.
    model, optimizer = accelerator.prepare(layer, torch.optim.SGD(layer.parameters(), lr=0.001))
    progress = Progress()
    accelerator.register_for_checkpointing(loader, progress)
    if found := checkpoints(args.checkpoint):
        accelerator.load_state(str(found[-1]))
    began = progress.steps

    for _epoch in range(loader.state_dict()["epoch"], args.epochs):
        for batch in loader.torch(device=accelerator.device):
            # Copies at the end of an epoch have no weight.
            scores = model(batch.images.flatten(1).float() / 255)
            losses = torch.nn.functional.cross_entropy(scores, batch.labels, reduction="none")
            optimizer.zero_grad()
            accelerator.backward((losses * batch.mask).mean())
            optimizer.step()
            progress.steps += 1
            if progress.steps % args.every == 0:
                save(accelerator, args.checkpoint, progress.steps)
            if progress.steps == args.die_at and accelerator.process_index == accelerator.num_processes - 1:
                os.kill(os.getpid(), signal.SIGKILL)
    # Each rank has a ledger of its own, which accounts for its part of each step since the checkpoint.
    audit = [each._asdict() for each in loader.audit()]
    print(json.dumps({"rank": accelerator.process_index, "steps": progress.steps - began, "audit": audit}), flush=True)
    loader.close()
    accelerator.end_training()


if __name__ == "__main__":
    main()
