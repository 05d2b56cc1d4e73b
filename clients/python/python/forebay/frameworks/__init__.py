"""The frameworks that Forebay knows, and what it asks them. A new one is a file here, and a line in `FRAMEWORKS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import numpy as np

from forebay.frameworks.cupy import Cupy, CupyEvent
from forebay.frameworks.framework import Event, Framework
from forebay.frameworks.jax import Jax, JaxArray
from forebay.frameworks.paddle import Paddle
from forebay.frameworks.tensorflow import TensorFlow
from forebay.frameworks.torch import Torch

__all__ = [
    "FRAMEWORKS",
    "CupyEvent",
    "Event",
    "JaxArray",
    "Mark",
    "as_picture",
    "common_id",
    "current_device",
    "current_streams",
    "dtype_name",
    "event_of",
    "ranks",
    "use_gpu",
]

# The first one that has an answer gives it.
FRAMEWORKS: tuple[Framework, ...] = (Torch(), Cupy(), Jax(), TensorFlow(), Paddle())

# What `Batch.release(after=...)` takes.
Mark = Union[Event, CupyEvent, JaxArray]


def use_gpu() -> bool:
    """Whether a framework uses a GPU in this process."""
    return any(framework.uses_gpu() for framework in FRAMEWORKS)


def current_device() -> int:
    """Number of the GPU that a framework uses now, else 0."""
    return next((device for each in FRAMEWORKS if (device := each.current_device()) is not None), 0)


def current_streams(device: int) -> list[int]:
    """Handles of the streams on which frameworks work on this GPU, beside the default stream."""
    return [stream for each in FRAMEWORKS if (stream := each.current_stream(device)) is not None]


def ranks() -> tuple[int, int, str] | None:
    """Rank, world size, and what they were read from; None if no framework has a process group."""
    return next((found for each in FRAMEWORKS if (found := each.ranks()) is not None), None)


def common_id() -> str | None:
    """A new random text that is equal in all ranks; None if no framework has a process group of several ranks."""
    return next((drawn for each in FRAMEWORKS if (drawn := each.common_id()) is not None), None)


def event_of(mark: Mark) -> Event:
    """A framework's mark as an event.

    Raises:
        TypeError: No framework has such marks.
    """
    found = next((event for each in FRAMEWORKS if (event := each.event(mark)) is not None), None)
    if found is None:
        known = "; ".join(each.marks for each in FRAMEWORKS if each.marks)
        raise TypeError(f"release(after={mark!r}): this is not a mark in a GPU's work. Give one of these: {known}")
    return found


def dtype_name(dtype: object) -> str | None:
    """Name in numpy of a framework's type, or "bfloat16"; None if no framework has this type."""
    return next((name for each in FRAMEWORKS if (name := each.dtype_name(dtype)) is not None), None)


def as_picture(value: object) -> tuple[np.ndarray, Callable[[np.ndarray], Any]] | None:
    """Pixels of a framework's picture, and what makes one like it of other pixels; None if no framework has such.

    Raises:
        ValueError: It is a framework's tensor, but not a picture of `uint8` in the memory of the CPU.
    """
    return next((found for each in FRAMEWORKS if (found := each.as_picture(value)) is not None), None)
