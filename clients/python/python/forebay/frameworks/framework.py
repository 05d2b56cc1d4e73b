"""What Forebay asks a framework. The base class has the answers of a framework that knows nothing of the subject."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

__all__ = ["Event", "Framework"]


class Event(Protocol):
    """A mark in a GPU's work, such as `torch.cuda.Event`."""

    def query(self) -> bool:
        """Whether all work before the mark is done."""
        ...

    def synchronize(self) -> None:
        """Waits until all work before the mark is done."""
        ...


class Framework:
    """A framework that the trainer may use. Forebay never imports it, and only looks whether the trainer has.

    To add a framework, write a subclass with the answers that it has, and add it to `forebay.frameworks.FRAMEWORKS`.

    Attributes:
        name: Name of the framework's module.
        marks: What `Batch.release(after=...)` takes of this framework, for error messages. Empty if nothing.
    """

    name: ClassVar[str]
    marks: ClassVar[str] = ""

    @property
    def module(self) -> Any:  # noqa: ANN401 - the framework's, which may not be installed
        """The framework's module if the trainer has imported it, else None."""
        return sys.modules.get(self.name)

    def uses_gpu(self) -> bool:
        """Whether the framework uses a GPU in this process, or is about to."""
        return False

    def current_device(self) -> int | None:
        """Number of the GPU that the framework uses now; None if it has not chosen one."""
        return None

    def current_stream(self, device: int) -> int | None:  # noqa: ARG002 - for subclasses
        """Handle of the stream on which the framework works on this GPU; None for the default stream."""
        return None

    def ranks(self) -> tuple[int, int, str] | None:
        """Rank, world size, and what they were read from, if the framework has a process group; else None."""
        return None

    def common_id(self) -> str | None:
        """A new random text that is equal in all ranks, if the framework has a process group of several; else None.

        It waits for the other ranks, all of which must call it.
        """
        return None

    def event(self, mark: object) -> Event | None:  # noqa: ARG002 - for subclasses
        """The framework's mark as an `Event`; None if `mark` is not one of this framework's."""
        return None

    def as_picture(self, value: object) -> tuple[np.ndarray, Callable[[np.ndarray], Any]] | None:  # noqa: ARG002
        """A picture of this framework, and what makes one like it of other pixels; None if `value` is not one.

        The pixels are an array of height x width x 3, and so are the other pixels.

        Raises:
            ValueError: It is a tensor of this framework, but not a picture of `uint8` in the memory of the CPU.
        """
        return None

    def dtype_name(self, dtype: object) -> str | None:  # noqa: ARG002 - for subclasses
        """Name in numpy of a type of this framework, or "bfloat16"; None if `dtype` is not one of this framework's."""
        return None
