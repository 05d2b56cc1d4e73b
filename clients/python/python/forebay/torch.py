"""Batches as PyTorch tensors. `Loader.torch()` imports this module; nothing else needs PyTorch."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from forebay.converted import Converted
from forebay.dtype import BFLOAT16_BITS

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.batches import Batches
    from forebay.gpu import GpuArray

__all__ = ["TorchBatch", "TorchLoader"]

_log = logging.getLogger("forebay")


class TorchBatch(NamedTuple):
    """A batch as tensors.

    Attributes:
        images: `(n, height, width, 3)`, or `(n, 3, height, width)` with `layout="NCHW"`, of the stream's dtype.
        labels: `(n,)` of int64; -1 without a label.
        records: `(n,)` of int64: record numbers in the dataset's order; -1 where a place has no record.
        mask: `(n,)` of bool: False where a place repeats a record or replaces a bad one.
        valid: Number of places with records of this epoch: those where `mask` is True.
        epoch: The epoch that the batch belongs to, from 0.
    """

    images: torch.Tensor
    labels: torch.Tensor
    records: torch.Tensor
    mask: torch.Tensor
    valid: int
    epoch: int


class TorchLoader(Converted[TorchBatch]):
    """A Loader that gives `TorchBatch`. Everything else is the same as in the Loader, with which it shares its session.

    Attributes:
        loader: The Loader.

    Example:
        >>> for batch in loader.torch(device="cuda"):                                   # doctest: +SKIP
        ...     loss = criterion(model(batch.images), batch.labels)
    """

    def __init__(self, loader: Batches[Batch], *, copy: bool, device: Any = None) -> None:  # noqa: ANN401 - as PyTorch
        ring = None if loader.placement == "host" else torch.device(loader.placement.replace("gpu", "cuda"))
        on = _device(device, ring)
        super().__init__(loader, _Tensors(on, copy=copy))
        if ring is not None and on is not None and on.type == "cuda" and on != ring:
            _log.warning(
                "the batches are on %s, and each of them is copied to %s: give the trainers of each GPU their own "
                'stream, or set placement="host" for a stream that several GPUs read',
                ring,
                on,
            )


class _Tensors:
    """The conversion of a batch.

    Args:
        device: Where the tensors will be; None for the host.
        copy: Whether the tensors are copies or views.
    """

    def __init__(self, device: torch.device | None, *, copy: bool) -> None:
        self._device = device
        self._copy = copy

    def __call__(self, batch: Batch) -> TorchBatch:
        arrays = (batch.images, batch.labels, batch.records, batch.mask)
        if self._device is None or self._device.type == "cpu":
            images, labels, records, mask = map(_copied if self._copy else _viewed, arrays)
            return TorchBatch(images, labels, records, mask, batch.valid, batch.epoch)
        images, labels, records, mask = map(self._moved, arrays)
        # The copies to the GPU read the slot even after the arrays here are gone.
        moved = torch.cuda.Event()
        moved.record(torch.cuda.current_stream(self._device))
        batch.release(after=moved)
        return TorchBatch(images, labels, records, mask, batch.valid, batch.epoch)

    def _moved(self, array: np.ndarray | GpuArray) -> torch.Tensor:
        if isinstance(array, np.ndarray):
            return _viewed(array).to(self._device, non_blocking=True)
        view = _typed(torch.as_tensor(array, device=f"cuda:{array.device}"), array)
        # A move to another GPU is a copy already.
        return view.clone() if self._copy and view.device == self._device else view.to(self._device, non_blocking=True)


def _device(asked: Any, ring: torch.device | None) -> torch.device | None:  # noqa: ANN401 - as PyTorch
    """The device of the tensors. None is the host, for a ring in the host and no device asked for."""
    if asked is None and (ring is None or not torch.cuda.is_initialized()):
        return ring
    device = torch.device("cuda" if asked is None else asked)
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device


class _Writable:
    """An array's memory without its read-only mark. PyTorch has no such mark, and warns when it drops one."""

    def __init__(self, array: np.ndarray) -> None:
        address, _read_only = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
        # numpy keeps this object as long as it uses the memory.
        self._keep = array


def _copied(array: np.ndarray | GpuArray) -> torch.Tensor:
    return _tensor(array.copy() if isinstance(array, np.ndarray) else array.numpy())


def _viewed(array: np.ndarray | GpuArray) -> torch.Tensor:
    # The host has no view of memory of a GPU.
    return _tensor(np.asarray(_Writable(array))) if isinstance(array, np.ndarray) else _copied(array)


def _tensor(array: np.ndarray) -> torch.Tensor:
    # PyTorch before 2.3 has no uint16.
    signed = array.view(np.int16) if array.dtype == BFLOAT16_BITS else array
    return _typed(torch.from_numpy(signed), array)


def _typed(tensor: torch.Tensor, array: np.ndarray | GpuArray) -> torch.Tensor:
    """The tensor as bfloat16, if the array holds the bits of bfloat16."""
    return tensor.view(torch.bfloat16) if array.dtype == BFLOAT16_BITS else tensor
