"""Training with Hugging Face's Trainer, whose checkpoints have the DataLoader's state, also within an epoch.

`torchrun --nproc_per_node=4 examples/hf_trainer.py /data/pictures --output jobs/1` trains with 4 ranks. Stop it, or
kill it, and start it with 2: it continues after the last checkpoint, with the next record. Without torchrun, it trains
alone.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path
from typing import Any

import torch
from forebay.torch import DataLoader
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

SIDE = 8


class Classifier(torch.nn.Module):
    """A softmax regression that gives its loss, as Trainer wants it."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3 * SIDE * SIDE, classes)

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The loss of a batch, and its scores."""
        scores = self.layer(images.flatten(1).float() / 255)
        return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


class SaveData(TrainerCallback):
    """Puts the DataLoader's state into each checkpoint."""

    def on_save(self, args: TrainingArguments, state: TrainerState, _: TrainerControl, **more: Any) -> None:  # noqa: ANN401
        """Trainer calls this in every rank when it has written a checkpoint. All ranks have the same state."""
        if state.is_world_process_zero:
            file = Path(args.output_dir) / f"checkpoint-{state.global_step}" / "data.json"
            file.write_text(json.dumps(more["train_dataloader"].state_dict()))


class Trained(Trainer):
    """A Trainer that reads pictures with Forebay."""

    def __init__(self, source: str, checkpoint: str | None, **settings: Any) -> None:  # noqa: ANN401 - those of Trainer
        super().__init__(callbacks=[SaveData()], **settings)
        self.source, self.checkpoint = source, checkpoint

    def get_train_dataloader(self) -> DataLoader:
        """The batches of this rank, behind those that the checkpoint has."""
        size = self.args.per_device_train_batch_size
        loader = DataLoader(self.source, size, shuffle=True, size=SIDE, seed=self.args.seed, collate_fn=named)
        if self.checkpoint is not None:
            # Before Trainer asks for len(): with another number of ranks, the state decides on it.
            loader.load_state_dict(json.loads((Path(self.checkpoint) / "data.json").read_text()))
        return loader


class NodeLoss(TrainerCallback):
    """Kills this rank after so many steps, as the loss of its node would."""

    def __init__(self, die_at: int | None) -> None:
        self.die_at = die_at

    def on_step_end(self, _: TrainingArguments, state: TrainerState, __: TrainerControl, **___: object) -> None:
        """Looks at the count of steps."""
        if state.global_step == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)


def named(samples: list[tuple[torch.Tensor, int]]) -> dict[str, torch.Tensor]:
    """A batch with the names of the model's arguments."""
    images, labels = zip(*samples)
    return {"images": torch.stack(images), "labels": torch.tensor(labels)}


def main(words: list[str] | None = None, kind: type[Trained] = Trained) -> None:
    """Trains, and prints how many steps all runs of the job have taken."""
    parser = argparse.ArgumentParser(description="Trains a softmax regression with Hugging Face's Trainer.")
    parser.add_argument("source", help="folder with class folders")
    parser.add_argument("--output", required=True, help="folder for checkpoints")
    parser.add_argument("--every", type=int, default=2, help="steps between checkpoints")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=4, help="of each rank")
    parser.add_argument("--die-at", type=int, help="kill the ranks after so many steps, as a lost node would")
    args = parser.parse_args(words)

    settings = TrainingArguments(
        args.output,
        num_train_epochs=args.epochs,
        per_device_train_batch_size=args.batch_size,
        save_steps=args.every,
        # The DataLoader's state says where to continue: Trainer need not read an epoch up to there.
        ignore_data_skip=True,
        use_cpu=not torch.cuda.is_available(),
        report_to=[],
        disable_tqdm=True,
    )
    checkpoint = get_last_checkpoint(args.output) if Path(args.output).is_dir() else None
    classes = sum(entry.is_dir() for entry in Path(args.source).iterdir())
    trainer = kind(args.source, checkpoint, model=Classifier(classes), args=settings)
    trainer.add_callback(NodeLoss(args.die_at))
    trainer.train(resume_from_checkpoint=checkpoint)
    print(json.dumps({"rank": settings.process_index, "steps": trainer.state.global_step}), flush=True)
    if torch.distributed.is_initialized():
        # Trainer leaves its threads to the process's end, which may abort it.
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
