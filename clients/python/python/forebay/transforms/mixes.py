"""Mixing: steps that take a finished batch, for `Loader(mixing=...)`."""

from __future__ import annotations

from dataclasses import dataclass

from forebay.transforms.transform import Transform

__all__ = ["CutMix", "MixUp"]


@dataclass(frozen=True)
class MixUp(Transform):
    """Makes each picture the weighted mean of itself and of the picture before it in the batch.

    Args:
        alpha: Both parameters of the Beta distribution of a picture's own weight, from 0.001 to 1000.

    Example:
        >>> MixUp(alpha=0.2).to_settings()
        {'mix_up': {'alpha': 0.2}}
    """

    alpha: float = 1.0


@dataclass(frozen=True)
class CutMix(Transform):
    """Replaces a rectangle of each picture by the same rectangle of the picture before it in the batch.

    Args:
        alpha: Both parameters of the Beta distribution of the share that a picture keeps, from 0.001 to 1000. Less is
            replaced if the rectangle reaches over the picture's edge.

    Example:
        >>> from forebay.transforms import RandomChoice
        >>> RandomChoice([MixUp(0.2), CutMix()]).to_settings()
        {'random_choice': {'transforms': [{'mix_up': {'alpha': 0.2}}, {'cut_mix': {'alpha': 1.0}}]}}
    """

    alpha: float = 1.0
