"""Steps that have other steps in them, and choose among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forebay.transforms.transform import Transform

__all__ = ["RandomApply", "RandomChoice", "RandomOrder"]


@dataclass(frozen=True)
class RandomApply(Transform):
    """Carries out all of its steps, in their order, or none, with a probability.

    Args:
        transforms: The steps.
        p: The probability, from 0 to 1.

    Example:
        >>> from forebay.transforms import RandomGrayscale
        >>> RandomApply([RandomGrayscale(1.0)], p=0.3).to_settings()
        {'random_apply': {'transforms': [{'random_grayscale': {'p': 1.0}}], 'p': 0.3}}
    """

    transforms: Sequence[Transform]
    p: float = 0.5


@dataclass(frozen=True)
class RandomChoice(Transform):
    """Carries out one of its steps.

    Args:
        transforms: The steps.
        p: How likely each step is, in relation to the others. If None, all are equally likely.

    Example:
        >>> from forebay.transforms import RandomInvert, RandomSolarize
        >>> list(RandomChoice([RandomInvert(), RandomSolarize(128)], p=[1, 3]).to_settings())
        ['random_choice']
    """

    transforms: Sequence[Transform]
    p: Sequence[float] | None = None


@dataclass(frozen=True)
class RandomOrder(Transform):
    """Carries out all of its steps in a random order.

    Args:
        transforms: The steps.

    Example:
        >>> from forebay.transforms import RandomInvert
        >>> RandomOrder([RandomInvert()]).to_settings()
        {'random_order': {'transforms': [{'random_invert': {'p': 0.5}}]}}
    """

    transforms: Sequence[Transform]
