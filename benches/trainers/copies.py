"""The bytes of pixels that are copied on the host between a decoder and a trainer: those outside the ring's memory."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import calls
import forebay
import numpy as np

BATCHES = 8
Address = Callable[[Any], int]


def table(folder: Path) -> None:
    """Prints a row for each framework."""
    print(f"bytes copied on the host, of {BATCHES} batches of {np.prod(calls.SHAPE):,} bytes")
    print(f"{'':52}{'copied':>18}{'goal':>14}", flush=True)
    for name, package, of in (
        ("numpy", "numpy", of_numpy),
        ("torch, copy=False", "torch", of_torch),
        ("TensorFlow, copy=False", "tensorflow", of_tensorflow),
        ("JAX, copy=False", "jax", of_jax),
    ):
        if importlib.util.find_spec(package) is None:
            print(f"{name}: skipped: {package} is not installed")
            continue
        with calls.loader_of(folder) as loader:
            rings = [ring.slots for ring in loader._feed.session.rings()]
            outside = sum(
                len(images) * int(np.prod(calls.SHAPE[1:]))
                for images, address in itertools.islice(of(loader), BATCHES)
                if not any(0 <= address(images) - start < size for start, size in rings)
            )
        print(f"{name:52}{outside:18,}{0:14}", flush=True)


def of_numpy(loader: forebay.Loader) -> Iterator[tuple[Any, Address]]:
    """Views of the Loader itself."""
    while True:
        for batch in loader:
            yield batch.images, lambda array: array.__array_interface__["data"][0]


def of_torch(loader: forebay.Loader) -> Iterator[tuple[Any, Address]]:
    """Tensors of PyTorch."""
    while True:
        for batch in loader.torch(copy=False):
            yield batch.images, lambda tensor: tensor.data_ptr()


def of_tensorflow(loader: forebay.Loader) -> Iterator[tuple[Any, Address]]:
    """Tensors of TensorFlow."""
    import forebay.tf

    dataset = forebay.tf.dataset(loader, copy=False)
    while True:
        for images, _ in dataset:
            yield images, lambda tensor: np.asarray(memoryview(tensor)).__array_interface__["data"][0]


def of_jax(loader: forebay.Loader) -> Iterator[tuple[Any, Address]]:
    """Arrays of JAX."""
    import forebay.jax

    batches = forebay.jax.batches(loader, copy=False)
    while True:
        for images, _ in batches:
            yield images, lambda array: array.unsafe_buffer_pointer()
