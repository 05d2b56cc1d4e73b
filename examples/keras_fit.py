"""Trains with Keras' `fit` on a folder of pictures, with Forebay's dataset or Keras' own.

`python examples/keras_fit.py /data/train /data/val` needs `tensorflow`. With `--loader keras`, Keras reads the pictures
with `image_dataset_from_directory`; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow import keras


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Trains with Keras on folders of pictures.")
    parser.add_argument("train", type=Path, help="folder with class folders")
    parser.add_argument("val", type=Path, help="folder with the same class folders")
    parser.add_argument("--loader", choices=("forebay", "keras"), default="forebay", help="whose dataset is used")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--mixup-alpha", type=float, default=0.2, help="0 mixes nothing")
    parser.add_argument("--ema-decay", type=float, default=0.9, help="of the averaged weights, in each step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling, and no mixup")
    parser.add_argument(
        "--resume", type=Path, help="folder of the checkpoint: written after each epoch, read at the start"
    )
    parser.add_argument("--save-every", type=int, metavar="STEPS", help="write it within epochs too")
    parser.add_argument("--stop-after", type=int, help="end after this epoch, as an interrupted job would")
    parser.add_argument(
        "--die-at", type=int, metavar="STEP", help="kill the process then, as the loss of a machine would"
    )
    args = parser.parse_args(words)
    if args.save_every and not args.resume:
        parser.error("--save-every: name the checkpoint with --resume")
    return args


def datasets(args: argparse.Namespace) -> tuple[tf.data.Dataset, tf.data.Dataset, Any]:
    """The batches for training and for validation, and what has the state of the first, or None."""
    loader = None
    if args.loader == "forebay":
        import forebay.tf
        from forebay.transforms import Resize

        shared = {"batch_size": args.batch_size, "transform": [Resize((args.size, args.size))]}
        loader = forebay.Loader(str(args.train), shuffle=not args.plain, seed=args.seed, **shared)
        train = forebay.tf.dataset(loader, copy=False)
        elements = ("images", "labels", "mask")
        val = forebay.tf.dataset(str(args.val), elements=elements, last_batch_policy="fill", **shared)
    else:
        shared = {"batch_size": args.batch_size, "image_size": (args.size, args.size), "verbose": False}
        train = keras.utils.image_dataset_from_directory(args.train, shuffle=not args.plain, seed=args.seed, **shared)
        val = keras.utils.image_dataset_from_directory(args.val, shuffle=False, **shared)
    return train, val, loader


class Count(keras.metrics.Sum):
    """How many pictures there were. Those that only fill a batch have the weight 0."""

    def update_state(self, labels: tf.Tensor, scores: tf.Tensor, sample_weight: tf.Tensor | None = None) -> None:  # noqa: ARG002 - of Keras
        """Adds those of a batch."""
        super().update_state(tf.ones(tf.shape(labels)[0]), sample_weight)


class Report(keras.callbacks.Callback):
    """Notes the loss of each batch, of which `fit` itself shows the mean, and what each validation counted."""

    def __init__(self, pictures: int) -> None:
        super().__init__()
        self.pictures = pictures
        self.report: dict[str, list[Any]] = {"losses": [], "accuracy": [], "right": [], "validated": []}
        self.total = 0.0

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Begins a mean."""
        self.total = 0.0

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        """Notes a loss; all batches have one size."""
        before, self.total = self.total, logs["loss"] * (batch + 1)
        self.report["losses"].append(self.total - before)

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Every validation has read every picture."""
        count = round(logs["val_count"])
        if count != self.pictures:
            raise RuntimeError(f"validation has read {count} pictures of {self.pictures}")
        self.report["accuracy"].append(logs["val_accuracy"])
        self.report["right"].append(round(logs["val_accuracy"] * count))
        self.report["validated"].append(count)


class Place(tf.train.experimental.PythonState):
    """What a loader has read, as a part of a checkpoint of TensorFlow."""

    def __init__(self, loader: Any) -> None:  # noqa: ANN401 - any that has a state
        self.loader = loader

    def serialize(self) -> str:
        """The loader's state. The batch in hand has been read."""
        return json.dumps(self.loader.state_dict())

    def deserialize(self, text: str) -> None:
        """Takes the loader back to a state."""
        self.loader.load_state_dict(json.loads(text))


class Checkpoint(keras.callbacks.Callback):
    """Writes a checkpoint after each epoch, and within one too if the loader has a state.

    Args:
        folder: Where it is. None keeps nothing.
        parts: What it has.
        loader: What has a state, or None.
        every: Steps between checkpoints within an epoch. None writes none.

    Attributes:
        epoch: The epoch that is not complete.
        step: Number of steps. The optimizer may count one more for each epoch, whose end Keras finds in a step.
    """

    def __init__(self, folder: Path | None, parts: dict[str, Any], loader: Any, every: int | None) -> None:  # noqa: ANN401
        super().__init__()
        self.loader, self.every = loader, every
        self.epoch, self.step = (tf.Variable(0, dtype=tf.int64) for _ in range(2))
        data = {} if loader is None else {"data": Place(loader)}
        kept = tf.train.Checkpoint(epoch=self.epoch, step=self.step, **parts, **data)
        self.manager = tf.train.CheckpointManager(kept, folder, max_to_keep=1) if folder else None
        if every and loader is None:
            print("this loader has no state: checkpoints are written after whole epochs only", flush=True)

    def restore(self) -> tuple[int, bool]:
        """Takes all parts back to the last checkpoint. Gives the epoch to go on with, and whether it has begun."""
        if self.manager:
            self.manager.restore_or_initialize()
        return int(self.epoch), self.is_within_epoch()

    def is_within_epoch(self) -> bool:
        """Whether the loader is neither before nor behind an epoch's batches."""
        return self.loader is not None and int(self.step) % len(self.loader) > 0

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Notes the epoch."""
        self.epoch.assign(epoch)

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Writes in time. The checkpoint of an epoch's last step is the one after the epoch."""
        self.step.assign_add(1)
        is_due = self.every and int(self.step) % self.every == 0
        if self.manager and is_due and self.is_within_epoch():
            self.manager.save()

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Writes after each epoch, when the next one is what is left."""
        self.epoch.assign(epoch + 1)
        if self.manager:
            self.manager.save()


class Death(keras.callbacks.Callback):
    """Kills the process after a step, if one is given."""

    def __init__(self, checkpoint: Checkpoint, step: int | None) -> None:
        super().__init__()
        self.checkpoint, self.step = checkpoint, step

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Looks at the count of steps."""
        if int(self.checkpoint.step) == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


def model_of(args: argparse.Namespace, classes: int) -> keras.Model:
    """A network with its first weights, and what trains and counts."""
    layers = [keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(32, activation="relu")]
    model = keras.Sequential([keras.Input((args.size, args.size, 3)), *layers, keras.layers.Dense(classes)])
    optimizer = keras.optimizers.SGD(args.lr, use_ema=True, ema_momentum=args.ema_decay)
    # A checkpoint has its values already when the first step is made.
    optimizer.build(model.trainable_variables)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, weighted_metrics=["accuracy", Count(name="count")])
    return model


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, and gives the losses, and the right answers and the pictures of each validation."""
    args = arguments(words)
    keras.utils.set_random_seed(args.seed)
    train, val, loader = datasets(args)
    folders = [entry for entry in args.val.iterdir() if entry.is_dir()]
    pictures = sum(1 for folder in folders for _ in folder.iterdir())
    mixup = keras.layers.MixUp(alpha=args.mixup_alpha or 1.0, seed=args.seed)

    def encoded(images: tf.Tensor, labels: tf.Tensor, *mask: tf.Tensor) -> tuple[tf.Tensor, ...]:
        return images, tf.one_hot(labels, len(folders)), *mask

    def mixed(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        made = mixup({"images": images, "labels": labels})
        return made["images"], made["labels"]

    train, val = train.map(encoded), val.map(encoded)
    if args.mixup_alpha and not args.plain:
        train = train.map(mixed)
    # A parallel map draws batches ahead, and the loader's state would have them as read.
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = False
    train = train.with_options(options)

    model = model_of(args, len(folders))
    parts = {"model": model, "optimizer": model.optimizer, "mixup": mixup.generator.state}
    checkpoint, report = Checkpoint(args.resume, parts, loader, args.save_every), Report(pictures)
    # Validation uses the averaged weights.
    callbacks = [keras.callbacks.SwapEMAWeights(), report, checkpoint, Death(checkpoint, args.die_at)]
    shared = {"validation_data": val, "callbacks": callbacks, "verbose": 0}
    begun, is_within = checkpoint.restore()
    if is_within:
        # Keras takes the batches of a `fit`'s first epoch for those of each, so the rest of an epoch is one by itself.
        # At its end, Keras puts the averaged weights in the place of the others, which the checkpoint still has.
        model.fit(train, initial_epoch=begun, epochs=begun + 1, **shared)
        begun, _ = checkpoint.restore()
    model.fit(
        train, initial_epoch=begun, epochs=args.epochs if args.stop_after is None else args.stop_after + 1, **shared
    )
    return report.report


if __name__ == "__main__":
    print(json.dumps(main()))
