"""Batches as PyTorch tensors. Imported by `Loader.torch()`; PyTorch is needed only then."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from forebay.batch import Batch

if TYPE_CHECKING:
    from forebay.loader import Loader

__all__ = ["TorchBatch", "TorchLoader"]


class TorchBatch(NamedTuple):
    """A batch as tensors.

    Attributes:
        images: Of the stream's dtype and layout, `n` pictures.
        labels: `(n,)` of int64; -1 without labels.
        records: `(n,)` of int64.
        mask: `(n,)` of bool: False where a place repeats another or stands in for a bad record.
        valid: How many places are this epoch's own records.
        epoch: The epoch that the batch belongs to.
    """

    images: torch.Tensor
    labels: torch.Tensor
    records: torch.Tensor
    mask: torch.Tensor
    valid: int
    epoch: int


class TorchLoader:
    """A Loader that yields `TorchBatch`. Everything else is the Loader's own."""

    def __init__(self, loader: Loader, *, copy: bool) -> None:
        self.loader = loader
        self._tensor = _copied if copy else _viewed

    def __iter__(self) -> Iterator[TorchBatch]:
        """The rest of the stream's current epoch."""
        return map(self._convert, iter(self.loader))

    def __len__(self) -> int:
        """See `Loader.__len__`."""
        return len(self.loader)

    def _convert(self, batch: Batch) -> TorchBatch:
        arrays = (batch.images, batch.labels, batch.records, batch.mask)
        return TorchBatch(*map(self._tensor, arrays), batch.valid, batch.epoch)


def _copied(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.copy())


def _viewed(array: np.ndarray) -> torch.Tensor:
    with warnings.catch_warnings():
        # PyTorch has no read-only tensors and warns of one; the caller has asked for it.
        warnings.filterwarnings("ignore", message=".*not writable.*")
        return torch.from_numpy(array)
