"""What all steps have in common: a step is a table of the daemon's configuration, and a function of pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from forebay.transforms.in_process import Carried, Picture, document, made_of, pipeline

__all__ = ["Transform"]

_PACKAGE = __name__.rpartition(".")[0] + "."


class Transform:
    """One step. A `transform` list in the daemon's configuration has the same steps as tables.

    Example:
        >>> import numpy as np
        >>> from forebay.transforms import CenterCrop
        >>> CenterCrop(4)(np.zeros((6, 8, 3), np.uint8)).shape
        (4, 4, 3)
    """

    def __call__(
        self, picture: Picture, *, seed: int | None = None, epoch: int = 0, record: int = 0, match: str = "pillow"
    ) -> Carried:
        """Carries the step out on one picture, in this process and without a daemon.

        With `seed`, the result depends on the arguments alone: a Loader with this seed gives the same pixels for this
        record in this epoch, if the step is the first of its list. Without `seed`, each call takes one from Python's
        `random`. So `random.seed()` repeats a program's calls, and each worker of a PyTorch DataLoader has its own.

        Args:
            picture: The bytes of a file, a `uint8` array of height x width x 3, or a `uint8` tensor of PyTorch of
                3 x height x width.
            seed: Decides about random choices, with the next two. From 0 to 2^64 - 1.
            epoch: Number of the epoch.
            record: Number of the record.
            match: Whose pixels: "pillow" or "torch".

        Returns:
            A tensor for a tensor, else an array. Its values are `uint8`, or `float32` after `Normalize`.

        Raises:
            PictureError: The bytes cannot be decoded.
            ValueError: The step has wrong values, or `picture` is something else.
        """
        return made_of(pipeline(document([self.to_settings()]), match), picture, (seed, epoch, record))

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """The step as a table with one key, which is the class's name in snake case.

        A subclass of a step, such as of `Resize`, gives the table of that step. The daemon knows no others.

        Raises:
            NotImplementedError: This is no such step, and its class does not override `to_settings()`.
        """
        classes = (cls for cls in type(self).__mro__ if cls.__module__.startswith(_PACKAGE) and is_dataclass(cls))
        step = next(classes, None)
        if step is None:
            raise NotImplementedError(
                f"{type(self).__name__} is not a step that the daemon knows. Use one of forebay.transforms, such as "
                "Resize, or override to_settings()"
            )
        values = {field.name: _plain(getattr(self, field.name)) for field in fields(step)}
        return {table_name(step): {key: value for key, value in values.items() if value is not None}}


def table_name(step: type[Transform]) -> str:
    """The key of a step's table: the class's name in snake case."""
    # The three letters of IoU are one word.
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", step.__name__.replace("IoU", "Iou")).lower()


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field's
    """Steps as tables, and sequences as JSON has them."""
    if isinstance(value, Transform):
        return value.to_settings()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [_plain(item) for item in value]
    return value
