"""Steps between the decoder and the batch, with torchvision's names and meanings.

`Loader(transform=[...])` takes a list of them. After the list, all images must have one size: the last step, apart from
flips and `Normalize`, must give a fixed size. Every random choice depends only on seed, epoch and record, so a picture
gets the same crop on every machine and after every restart.

Example:
    >>> from forebay import transforms
    >>> train = [
    ...     transforms.RandomResizedCrop(224),
    ...     transforms.RandomHorizontalFlip(0.5),
    ...     transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ... ]
    >>> train[1].to_settings()
    {'random_horizontal_flip': {'p': 0.5}}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Union

__all__ = [
    "CenterCrop",
    "Normalize",
    "Pad",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "Resize",
    "Transform",
]

Size = Union[int, Sequence[int]]


class Transform:
    """One step. A `transform` list in the daemon's configuration has the same steps as tables."""

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """The step as a table with one key, which is the class's name in snake case.

        A subclass of a step, such as of `Resize`, gives the table of that step. The daemon knows no others.

        Raises:
            NotImplementedError: This is no such step, and its class does not override `to_settings()`.
        """
        step = next((cls for cls in type(self).__mro__ if cls.__module__ == __name__ and is_dataclass(cls)), None)
        if step is None:
            raise NotImplementedError(
                f"{type(self).__name__} is not a step that the daemon knows. Use one of forebay.transforms, such as "
                "Resize, or override to_settings()"
            )
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", step.__name__).lower()
        return {name: {field.name: _plain(getattr(self, field.name)) for field in fields(step)}}


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """Cuts a random part out of the picture, and resizes it to `size`.

    Args:
        size: Side of a square, or (height, width), in pixels.
        scale: Smallest and largest share of the picture's area, each from 0 to 1.
        ratio: Smallest and largest width / height of the part.
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest"
            antialias.

    Example:
        >>> RandomResizedCrop(224, scale=(0.2, 1.0))
        RandomResizedCrop(size=224, scale=(0.2, 1.0), ratio=(0.75, 1.3333333333333333), interpolation='bilinear')
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class Resize(Transform):
    """Resizes the whole picture.

    Args:
        size: Length of the shorter side, which keeps the aspect ratio; or (height, width). In pixels.
        interpolation: Filter: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest" antialias.

    Example:
        >>> Resize((224, 320)).to_settings()
        {'resize': {'size': [224, 320], 'interpolation': 'bilinear'}}
    """

    size: Size
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Cuts out the middle of the picture. A smaller picture gets a black border.

    Args:
        size: Side of a square, or (height, width), in pixels.

    Example:
        >>> CenterCrop(224).to_settings()
        {'center_crop': {'size': 224}}
    """

    size: Size


@dataclass(frozen=True)
class Pad(Transform):
    """Adds a border, so that each side has at least the length in `size`. The picture stays in the middle.

    Args:
        size: Side of a square, or (height, width), in pixels.
        fill: Value of the border's pixels, from 0 to 255.

    Example:
        >>> Pad((224, 320), fill=128).to_settings()
        {'pad': {'size': [224, 320], 'fill': 128}}
    """

    size: Size
    fill: int = 0


@dataclass(frozen=True)
class RandomHorizontalFlip(Transform):
    """Mirrors the picture left to right, with a probability.

    Args:
        p: The probability, from 0 to 1.

    Example:
        >>> RandomHorizontalFlip(0.25).to_settings()
        {'random_horizontal_flip': {'p': 0.25}}
    """

    p: float = 0.5


@dataclass(frozen=True)
class Normalize(Transform):
    """Computes `(x / 255 - mean) / std` for each channel. Needs a float dtype.

    Args:
        mean: Red, green and blue, on a scale from 0 to 1.
        std: Red, green and blue, on the same scale.

    Example:
        >>> Normalize(mean=[0.5, 0.5, 0.5], std=[0.25, 0.25, 0.25]).to_settings()
        {'normalize': {'mean': [0.5, 0.5, 0.5], 'std': [0.25, 0.25, 0.25]}}
    """

    mean: Sequence[float]
    std: Sequence[float]


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field's
    """Sequences as JSON has them."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else value
