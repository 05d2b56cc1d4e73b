"""A plain loader for the examples with JAX: a loop over files with Pillow, which Forebay's batches replace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
from jax import numpy as jnp


class PlainLoader:
    """Reads and resizes files one by one. Each `for` is an epoch of its own order.

    Args:
        folder: Has a folder for each class.
        batch_size: Pictures in a batch.
        size: Side of the pictures.
        shuffle: False keeps the order of the files.
        seed: Of the orders.
        fill: True fills the last batch with black pictures, and gives a mask that leaves them out. False drops a last
            batch that is not full.
    """

    def __init__(
        self, folder: Path, *, batch_size: int, size: int, shuffle: bool = False, seed: int = 0, fill: bool = False
    ) -> None:
        classes = sorted(entry for entry in folder.iterdir() if entry.is_dir())
        self.files = [(file, label) for label, entry in enumerate(classes) for file in sorted(entry.iterdir())]
        self.batch_size, self.size, self.shuffle, self.seed, self.fill = batch_size, size, shuffle, seed, fill
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `for` this epoch, which has its own order. It begins at the epoch's first picture."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[tuple[jax.Array, ...]]:
        from PIL import Image

        random = np.random.default_rng((self.seed, self.epoch))
        order = random.permutation(len(self.files)) if self.shuffle else np.arange(len(self.files))
        self.epoch += 1
        for start in range(0, len(order), self.batch_size):
            files = [self.files[place] for place in order[start : start + self.batch_size]]
            missing = self.batch_size - len(files)
            if missing and not self.fill:
                return
            pictures = [Image.open(file).convert("RGB") for file, _ in files]
            images = [np.asarray(each.resize((self.size, self.size), Image.Resampling.BILINEAR)) for each in pictures]
            images += [np.zeros((self.size, self.size, 3), np.uint8)] * missing
            labels = [label for _, label in files] + [0] * missing
            mask = (jnp.arange(self.batch_size) < len(files),) if self.fill else ()
            yield jnp.asarray(np.stack(images)), jnp.asarray(labels), *mask
