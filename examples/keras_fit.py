"""Trains with Keras' `fit` on a folder of pictures, with Forebay's dataset or Keras' own.

`python examples/keras_fit.py /data/train /data/val` needs `tensorflow`. With `--loader keras`, Keras reads the pictures
with `image_dataset_from_directory`; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow import keras


def datasets(args: argparse.Namespace) -> tuple[tf.data.Dataset, tf.data.Dataset, int]:
    """The batches for training and for validation, and the number of classes."""
    classes = sum(1 for entry in args.train.iterdir() if entry.is_dir())
    if args.loader == "forebay":
        import forebay.tf
        from forebay.transforms import Resize

        shared = {"batch_size": args.batch_size, "transform": [Resize((args.size, args.size))]}
        train = forebay.tf.dataset(str(args.train), shuffle=not args.plain, seed=args.seed, **shared)
        val = forebay.tf.dataset(str(args.val), **shared)
    else:
        shared = {"batch_size": args.batch_size, "image_size": (args.size, args.size), "verbose": False}
        train = keras.utils.image_dataset_from_directory(args.train, shuffle=not args.plain, seed=args.seed, **shared)
        val = keras.utils.image_dataset_from_directory(args.val, shuffle=False, **shared)
    return train, val, classes


class Losses(keras.callbacks.Callback):
    """Notes the loss of each batch, of which `fit` itself shows the mean since the epoch began."""

    def __init__(self) -> None:
        super().__init__()
        self.means: list[list[float]] = []

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Begins a list."""
        self.means.append([])

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:  # noqa: ARG002 - of Keras
        """Notes a mean."""
        self.means[-1].append(logs["loss"])

    def of_batches(self) -> list[float]:
        """The losses of all batches, all of which have one size."""
        return [
            mean * (place + 1) - (means[place - 1] * place if place else 0.0)
            for means in self.means
            for place, mean in enumerate(means)
        ]


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, and gives the losses and the share of right answers in validation."""
    parser = argparse.ArgumentParser(description="Trains with Keras on folders of pictures.")
    parser.add_argument("train", type=Path, help="folder with class folders")
    parser.add_argument("val", type=Path, help="folder with the same class folders")
    parser.add_argument("--loader", choices=("forebay", "keras"), default="forebay", help="whose dataset is used")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling")
    args = parser.parse_args(words)

    keras.utils.set_random_seed(args.seed)
    train, val, classes = datasets(args)
    model = keras.Sequential(
        [
            keras.Input((args.size, args.size, 3)),
            keras.layers.Rescaling(1 / 255),
            keras.layers.Flatten(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(classes),
        ]
    )
    model.compile(
        keras.optimizers.SGD(args.lr),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    losses = Losses()
    history = model.fit(train, validation_data=val, epochs=args.epochs, callbacks=[losses], verbose=0)
    return {"losses": losses.of_batches(), "accuracy": history.history["val_accuracy"]}


if __name__ == "__main__":
    print(json.dumps(main()))
