"""A training loop of JAX on a folder of pictures, with Forebay's batches or those of a plain loader.

`python examples/jax_loop.py /data/train` needs `jax`. With `--loader plain`, a loop over files with Pillow makes the
batches; nothing else in this file depends on the loader.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from jax import numpy as jnp
from plain_loader import PlainLoader

Weights = dict[str, jax.Array]


def loader_of(args: argparse.Namespace) -> Any:  # noqa: ANN401 - either loader
    """The batches, each epoch in its own order unless `--plain` is given."""
    shared = {"batch_size": args.batch_size, "shuffle": not args.plain, "seed": args.seed}
    if args.loader == "forebay":
        import forebay.jax
        from forebay.transforms import Resize

        whole = [Resize((args.size, args.size))]
        return forebay.jax.batches(str(args.train), transform=whole, last_batch_policy="drop", **shared)
    return PlainLoader(args.train, size=args.size, **shared)


def first_weights(seed: int, size: int, classes: int) -> Weights:
    """Two layers with random weights."""
    one, two = jax.random.split(jax.random.key(seed))
    inside, hidden = 3 * size * size, 32
    return {
        "one": jax.random.normal(one, (inside, hidden)) * (2 / inside) ** 0.5,
        "two": jax.random.normal(two, (hidden, classes)) * (1 / hidden) ** 0.5,
    }


def loss_of(weights: Weights, images: jax.Array, labels: jax.Array) -> jax.Array:
    """The mean cross entropy of a batch."""
    values = images.reshape(len(images), -1).astype(jnp.float32) / 255
    scores = jax.nn.relu(values @ weights["one"]) @ weights["two"]
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1).mean()


@jax.jit
def step(weights: Weights, images: jax.Array, labels: jax.Array, lr: float) -> tuple[Weights, jax.Array]:
    """One step of gradient descent, and the loss before it."""
    loss, slopes = jax.value_and_grad(loss_of)(weights, images, labels)
    return jax.tree.map(lambda weight, slope: weight - lr * slope, weights, slopes), loss


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Trains, and gives the loss of each step."""
    parser = argparse.ArgumentParser(description="Trains two layers with JAX on a folder of pictures.")
    parser.add_argument("train", type=Path, help="folder with class folders")
    parser.add_argument("--loader", choices=("forebay", "plain"), default="forebay", help="whose batches are used")
    parser.add_argument("--size", type=int, default=32, help="side of the pictures")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="no shuffling")
    args = parser.parse_args(words)

    loader = loader_of(args)
    classes = sum(1 for entry in args.train.iterdir() if entry.is_dir())
    weights, losses = first_weights(args.seed, args.size, classes), []
    for epoch in range(args.epochs):
        began = len(losses)
        for images, labels in loader:
            weights, loss = step(weights, images, labels, args.lr)
            losses.append(loss)
        if began == len(losses):
            raise SystemExit("there are fewer pictures than one batch has: give a smaller --batch-size")
        mean = float(jnp.stack(losses[began:]).mean())
        print(f"epoch {epoch}: loss {mean:.3f}", flush=True)
    return {"losses": [float(loss) for loss in losses]}


if __name__ == "__main__":
    print(json.dumps(main()))
