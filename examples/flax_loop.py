"""A training loop of Flax on folders of pictures, with Forebay's batches or those of a plain loader.

`python examples/flax_loop.py /data` reads `/data/train` and `/data/val`, each of which has a folder for each class. It
needs `flax`. With `--loader plain`, a loop over files with Pillow makes the batches; nothing else in this file depends
on the loader.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import optax
from flax import linen, serialization
from flax.training.train_state import TrainState
from jax import numpy as jnp
from plain_loader import PlainLoader


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Trains a small network with Flax on folders of pictures.")
    parser.add_argument("data", type=Path, help="folder with train/ and val/")
    parser.add_argument("--loader", choices=("forebay", "plain"), default="forebay", help="whose batches are used")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--mixup-alpha", type=float, default=0.2, help="0 mixes nothing")
    parser.add_argument("--ema-decay", type=float, default=0.99, help="of the averaged weights, in each step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling, and no mixup")
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


def loaders(args: argparse.Namespace) -> tuple[Any, Any]:
    """The batches for training and for validation."""
    train, val = args.data / "train", args.data / "val"
    order = {"shuffle": not args.plain, "seed": args.seed}
    if args.loader == "forebay":
        from forebay.jax import batches
        from forebay.transforms import Resize

        shared = {"batch_size": args.batch_size, "transform": [Resize((args.size, args.size))]}
        return (
            batches(str(train), last_batch_policy="drop", **order, **shared),
            batches(str(val), last_batch_policy="fill", elements=("images", "labels", "mask"), **shared),
        )
    shared = {"batch_size": args.batch_size, "size": args.size}
    return (
        PlainLoader(train, **order, **shared),
        PlainLoader(val, fill=True, **shared),
    )


def counted(folder: Path) -> tuple[int, int]:
    """How many classes a folder has, and how many pictures."""
    classes = [entry for entry in folder.iterdir() if entry.is_dir()]
    return len(classes), sum(1 for entry in classes for _ in entry.iterdir())


class Network(linen.Module):
    """Two layers."""

    classes: int

    @linen.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """The scores of the classes."""
        values = images.reshape(len(images), -1).astype(jnp.float32) / 255
        hidden = linen.relu(linen.Dense(32)(values))
        return linen.Dense(self.classes)(hidden)


class State(TrainState):
    """What is trained, and the mean of its weights over time."""

    averaged: Any


def mixed(key: jax.Array, images: jax.Array, labels: jax.Array, alpha: float) -> tuple[jax.Array, jax.Array]:
    """Each picture with the one that is as far from the batch's other end."""
    weight = jax.random.beta(key, alpha, alpha)
    blend = lambda values: weight * values + (1 - weight) * values[::-1]  # noqa: E731 - for both
    return blend(images.astype(jnp.float32)), blend(labels)


@functools.partial(jax.jit, static_argnames=("classes", "alpha", "decay"))
def step(
    state: State, images: jax.Array, labels: jax.Array, key: jax.Array, *, classes: int, alpha: float, decay: float
) -> tuple[State, jax.Array]:
    """One step of gradient descent, and the loss before it."""
    labels = jax.nn.one_hot(labels, classes)
    if alpha:
        images, labels = mixed(jax.random.fold_in(key, state.step), images, labels, alpha)

    def loss_of(params: Any) -> jax.Array:  # noqa: ANN401 - of Flax
        return optax.softmax_cross_entropy(state.apply_fn({"params": params}, images), labels).mean()

    loss, slopes = jax.value_and_grad(loss_of)(state.params)
    state = state.apply_gradients(grads=slopes)
    return state.replace(averaged=optax.incremental_update(state.params, state.averaged, 1 - decay)), loss


@jax.jit
def judge(state: State, images: jax.Array, labels: jax.Array, mask: jax.Array) -> jax.Array:
    """How many pictures the averaged weights get right."""
    return ((state.apply_fn({"params": state.averaged}, images).argmax(1) == labels) & mask).sum()


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, with a line for each epoch, and gives what was printed."""
    args = arguments(words)
    train, val = loaders(args)
    classes, pictures = counted(args.data / "val")
    steps = counted(args.data / "train")[1] // args.batch_size
    first, draws = jax.random.split(jax.random.key(args.seed))
    network = Network(classes)
    params = network.init(first, jnp.zeros((1, args.size, args.size, 3)))["params"]
    optimizer = optax.sgd(args.lr)
    state = State.create(apply_fn=network.apply, params=params, tx=optimizer, averaged=params)
    begun, done, report = 0, 0, {"losses": [], "right": [], "validated": []}
    alpha = 0.0 if args.plain else args.mixup_alpha
    settings = {"classes": classes, "alpha": alpha, "decay": args.ema_decay}

    has_state = hasattr(train, "state_dict")
    if args.save_every and not has_state:
        print("this loader has no state: checkpoints are written after whole epochs only", flush=True)
        args.save_every = None

    def save(epoch: int) -> None:
        """Writes the checkpoint of a job that goes on with the rest of an epoch."""
        kept = {"state": state, "epoch": epoch, "data": json.dumps(train.state_dict() if has_state else None)}
        partial = args.resume.with_suffix(".partial")
        partial.write_bytes(serialization.to_bytes(kept))
        partial.replace(args.resume)

    if args.resume and args.resume.exists():
        kept = serialization.from_bytes({"state": state, "epoch": 0, "data": ""}, args.resume.read_bytes())
        state, begun, done = kept["state"], kept["epoch"], int(kept["state"].step)
        if has_state:
            train.load_state_dict(json.loads(kept["data"]))
    for epoch in range(begun, args.epochs):
        losses = []
        if not has_state:
            train.set_epoch(epoch)
        for images, labels in train:
            state, loss = step(state, images, labels, draws, **settings)
            losses.append(loss)
            done += 1
            # The checkpoint of an epoch's last step is the one after the epoch.
            if args.save_every and done % args.save_every == 0 and done % steps:
                save(epoch)
            if done == args.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        if not losses:
            raise SystemExit("there are fewer pictures than one batch has: give a smaller --batch-size")
        right, count = 0, 0
        for images, labels, mask in val:
            right += int(judge(state, images, labels, mask))
            count += int(mask.sum())
        if count != pictures:
            raise RuntimeError(f"validation has read {count} pictures of {pictures}")
        print(f"epoch {epoch}: loss {float(jnp.stack(losses).mean()):.3f}, {right} right of {count}", flush=True)
        report["losses"] += map(float, losses)
        report["right"].append(right)
        report["validated"].append(count)
        if args.resume:
            save(epoch + 1)
        if epoch == args.stop_after:
            break
    return report


if __name__ == "__main__":
    print(json.dumps(main()))
