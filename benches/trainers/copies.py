"""The bytes of pixels that are copied on the host between a decoder and a trainer: those outside the ring's memory."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import calls
import forebay
import numpy as np
from service import STREAM, served, wait_for

BATCHES = 8
Address = Callable[[Any], int]


ROOT = Path(__file__).resolve().parents[2]


def table(folder: Path, place: Path) -> None:
    """Prints a row for each framework, and one for C."""
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
    if missing := next((tool for tool in ("cargo", "cc", "pkg-config") if shutil.which(tool) is None), None):
        print(f"C: skipped: {missing} is not installed")
        return
    print(f"{'C':52}{of_c(folder, place):18,}{0:14}", flush=True)


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


def of_c(folder: Path, place: Path) -> int:
    """The bytes that a trainer in C got outside the ring's memory."""
    prefix, program = place / "c", place / "copied"
    subprocess.run([ROOT / "scripts" / "c.sh", "release", prefix], check=True)
    where = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "forebay"], env=where, check=True, capture_output=True, text=True
    )
    flags = [*found.stdout.split(), f"-Wl,-rpath,{prefix / 'lib'}"]
    source = Path(__file__).with_name("copied.c")
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", program, source, *flags], check=True)
    with served(folder, place, 'last_batch_policy = "drop"') as (_, socket):
        wait_for(socket)
        said = subprocess.run([program, STREAM, socket, str(BATCHES)], check=True, capture_output=True, text=True)
    return int(said.stdout)
