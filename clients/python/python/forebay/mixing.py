"""How the pictures of a batch are mixed, where more than the transform is to be said."""

from __future__ import annotations

from dataclasses import dataclass

from forebay.transforms import Transform

__all__ = ["Mixing"]


@dataclass(frozen=True)
class Mixing:
    """Mixes each picture of a finished batch with the one before it.

    Attributes:
        transform: `transforms.MixUp`, `transforms.CutMix`, or a `transforms.RandomChoice` of them.
        per_batch: True mixes all pictures of a batch with the same weight, as torchvision does.

    Example:
        >>> mixing = Mixing(forebay.transforms.MixUp(0.2), per_batch=True)                      # doctest: +SKIP
        >>> loader = forebay.Loader("/data/train", batch_size=64, size=224, mixing=mixing)      # doctest: +SKIP
    """

    transform: Transform
    per_batch: bool = False
