"""Labels as probabilities."""

from __future__ import annotations

import numpy as np

__all__ = ["soft_labels_of"]


def soft_labels_of(
    parts: list[tuple[np.ndarray, np.float32 | np.ndarray]], num_classes: int, label_smoothing: float
) -> np.ndarray:
    """Probabilities of classes: `(n, num_classes)` of float32.

    Args:
        parts: Labels of all places, `(n,)` of integers, each with their weights.
        num_classes: Number of classes.
        label_smoothing: The part that all classes share, from 0.0 to 1.0.

    Raises:
        ValueError: A label is not below `num_classes`.
    """
    soft = np.zeros((len(parts[0][0]), num_classes), np.float32)
    for numbers, weight in parts:
        if len(numbers) and numbers.max() >= num_classes:
            raise ValueError(f"label {numbers.max()} is not below num_classes={num_classes}")
        places = np.flatnonzero(numbers >= 0)
        soft[places, numbers[places]] += np.broadcast_to(weight, numbers.shape)[places]
    if label_smoothing:
        known = soft.sum(1, keepdims=True)
        soft = (1 - label_smoothing) * soft + known * np.float32(label_smoothing / num_classes)
    return soft
