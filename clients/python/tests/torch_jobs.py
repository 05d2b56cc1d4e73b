"""Jobs of frameworks that look inside a DataLoader, for the tests: each rank writes down what it trains on.

`torchrun torch_jobs.py FRAMEWORK FOLDER OUTPUT --die-at STEP` trains with the framework's defaults, and with
`forebay.torch.DataLoader` in place of torch's. Started again, it continues after its last checkpoint.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import torch
from forebay.torch import DataLoader
from torch.nn.functional import cross_entropy

SIDE, BATCH, EVERY, EPOCHS, ACCUMULATED = 8, 4, 2, 3, 2
RANK = int(os.environ.get("RANK", "0"))


class Diary:
    """The records of each step, in a file of this rank and of this start. The colour of record n is n."""

    def __init__(self, output):
        output.mkdir(parents=True, exist_ok=True)
        starts = len(list(output.glob(f"rank-{RANK}-*")))
        self.file = (output / f"rank-{RANK}-{starts}.jsonl").open("w")

    def note(self, epoch, step, images, **more):
        line = {"epoch": epoch, "step": step, "records": images[:, 0, 0, 0].int().tolist(), **more}
        print(json.dumps(line), file=self.file, flush=True)


def die(step, die_at):
    """Ends this rank as the loss of its node would."""
    if step == die_at:
        os.kill(os.getpid(), signal.SIGKILL)


def lightning(args, diary):
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * SIDE * SIDE, 2)

        def training_step(self, batch, _):
            images, labels = batch
            diary.note(self.current_epoch, self.global_step, images)
            return cross_entropy(self.layer(images.flatten(1).float() / 255), labels)

        def validation_step(self, batch, _):
            images, labels = batch
            self.log("loss", cross_entropy(self.layer(images.flatten(1).float() / 255), labels), sync_dist=True)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.001)

    class Loss(lightning.Callback):
        def on_train_batch_end(self, trainer, *_):
            die(trainer.global_step, args.die_at)

    trainer = lightning.Trainer(
        accelerator="cpu",
        strategy="ddp" if "RANK" in os.environ else "auto",
        devices=int(os.environ.get("WORLD_SIZE", "1")),
        max_epochs=EPOCHS,
        callbacks=[ModelCheckpoint(args.output / "kept", save_last=True, every_n_train_steps=EVERY), Loss()],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    train = DataLoader(args.folder, BATCH, shuffle=True, size=SIDE)
    trainer.fit(Model(), train, DataLoader(args.folder, BATCH, size=SIDE), ckpt_path="last")
    return trainer.global_step


def accelerate(args, diary):
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration

    class Progress:
        epoch = steps = 0

        def state_dict(self):
            return {"epoch": self.epoch, "steps": self.steps}

        def load_state_dict(self, state):
            self.epoch, self.steps = state["epoch"], state["steps"]

    accelerator = Accelerator(
        cpu=True,
        gradient_accumulation_steps=ACCUMULATED,
        dataloader_config=DataLoaderConfiguration(split_batches=True),
    )
    loader = DataLoader(args.folder, BATCH, shuffle=True, size=SIDE)
    model = torch.nn.Linear(3 * SIDE * SIDE, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    progress = Progress()
    accelerator.register_for_checkpointing(loader, progress)
    if (args.output / "kept").is_dir():
        accelerator.load_state(str(args.output / "kept"))
    for epoch in range(loader.epoch, EPOCHS):
        for images, labels in loader:
            with accelerator.accumulate(model):
                accelerator.backward(cross_entropy(model(images.flatten(1).float() / 255), labels))
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            paces = {"stepped": accelerator.sync_gradients, "scheduler": scheduler.scheduler.last_epoch}
            diary.note(epoch, progress.steps, images, **paces)
            progress.steps += 1
            if progress.steps % EVERY == 0:
                accelerator.wait_for_everyone()
                accelerator.save_state(str(args.output / "partial"))
                accelerator.wait_for_everyone()
                if accelerator.is_main_process:
                    shutil.rmtree(args.output / "kept", ignore_errors=True)
                    (args.output / "partial").rename(args.output / "kept")
                accelerator.wait_for_everyone()
            die(progress.steps, args.die_at)
    accelerator.end_training()
    return progress.steps


def hf_trainer():
    """The example as a module."""
    path = Path(__file__).resolve().parents[3] / "examples" / "hf_trainer.py"
    spec = importlib.util.spec_from_file_location("hf_trainer", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["hf_trainer"] = module
    spec.loader.exec_module(module)
    return module


def trainer(args, diary):
    example = hf_trainer()
    steps = []

    class Noted(example.Trained):
        def training_step(self, model, inputs, *more):
            step = self.state.global_step
            # Trainer's own count of epochs is a fraction, which a resumed epoch leaves behind.
            diary.note(step // len(self.callback_handler.train_dataloader), step, inputs["images"])
            loss = super().training_step(model, inputs, *more)
            steps.append(self.state.global_step + 1)
            return loss

    words = [str(args.folder), "--output", str(args.output / "kept"), "--epochs", str(EPOCHS)]
    words += ["--batch-size", str(BATCH), "--every", str(EVERY)]
    example.main([*words, *(["--die-at", str(args.die_at)] if args.die_at else [])], Noted)
    return steps[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("framework", choices=("lightning", "accelerate", "trainer"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--die-at", type=int)
    args = parser.parse_args()
    steps = globals()[args.framework](args, Diary(args.output))
    if torch.distributed.is_initialized():
        # Its threads, left to the process's end, may abort it.
        torch.distributed.destroy_process_group()
    print(json.dumps({"job": args.framework, "steps": steps}), flush=True)


if __name__ == "__main__":
    main()
