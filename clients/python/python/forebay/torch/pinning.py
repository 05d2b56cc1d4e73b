"""Copies of batches in page-locked memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["pinned"]


def pinned(made: Any) -> Any:  # noqa: ANN401 - what `collate_fn` has made
    """The same with its tensors in page-locked memory. As in torch, any other object may have `pin_memory()`."""
    if isinstance(made, (str, bytes)):
        return made
    if isinstance(made, Mapping):
        copied = {key: pinned(value) for key, value in made.items()}
        return copied if type(made) is dict else type(made)(copied)
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*map(pinned, made))
    if isinstance(made, (list, tuple)):
        return type(made)(map(pinned, made))
    return made.pin_memory() if hasattr(made, "pin_memory") else made
