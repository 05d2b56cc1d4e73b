"""Batches as PyTorch tensors. Imported by `Loader.torch()`; PyTorch is needed only then."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from forebay.batch import Batch
from forebay.dtype import BFLOAT16_BITS
from forebay.epoch import Epoch

if TYPE_CHECKING:
    from typing_extensions import Self

    from forebay.audit import EpochAudit, QuarantinedRecord
    from forebay.gpu import GpuArray
    from forebay.loader import Loader

__all__ = ["TorchBatch", "TorchLoader"]

_log = logging.getLogger("forebay")


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
    """A Loader that gives `TorchBatch`. Everything else is the Loader's own, which it shares.

    Attributes:
        loader: The Loader.
    """

    def __init__(self, loader: Loader, *, copy: bool, device: Any = None) -> None:  # noqa: ANN401 - as PyTorch
        self.loader = loader
        self._tensor = _copied if copy else _viewed
        self._copy = copy
        ring = None if loader.placement == "host" else torch.device(loader.placement.replace("gpu", "cuda"))
        self._device = _device(device, ring)
        if ring is not None and self._device.type == "cuda" and self._device != ring:
            _log.warning(
                "batches stand on %s, and each is copied to %s: give the trainers of each GPU a stream of their own, "
                "or take the host for one that several GPUs read",
                ring,
                self._device,
            )

    def __iter__(self) -> Iterator[TorchBatch]:
        """The rest of the stream's current epoch."""
        return Epoch(self.loader._session, self._draw)

    def next(self, timeout: float | None = None) -> TorchBatch | None:
        """See `Loader.next`."""
        number, batch = self._draw(timeout)
        self.loader._session.taken = number  # Last of all: see `Loader._draw`.
        return batch

    def __len__(self) -> int:
        """See `Loader.__len__`."""
        return len(self.loader)

    @property
    def placement(self) -> str:
        """See `Loader.placement`."""
        return self.loader.placement

    def pin(self, device: int | None = None) -> None:
        """See `Loader.pin`."""
        self.loader.pin(device)

    @property
    def classes(self) -> list[str]:
        """See `Loader.classes`."""
        return self.loader.classes

    @property
    def quarantine(self) -> list[QuarantinedRecord]:
        """See `Loader.quarantine`."""
        return self.loader.quarantine

    def path(self, record: int) -> str:
        """See `Loader.path`."""
        return self.loader.path(record)

    def audit(self) -> list[EpochAudit]:
        """See `Loader.audit`."""
        return self.loader.audit()

    def reset(self) -> None:
        """See `Loader.reset`."""
        self.loader.reset()

    def state_dict(self) -> dict[str, Any]:
        """See `Loader.state_dict`."""
        return self.loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Loader.load_state_dict`."""
        self.loader.load_state_dict(state)

    def close(self) -> None:
        """See `Loader.close`. Views that are still kept stay valid."""
        self.loader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _draw(self, timeout: float | None = None) -> tuple[int, TorchBatch | None]:
        number, batch = self.loader._draw(timeout)
        return number, None if batch is None else self._convert(batch)

    def _convert(self, batch: Batch) -> TorchBatch:
        arrays = (batch.images, batch.labels, batch.records, batch.mask)
        if self._device is None or self._device.type == "cpu":
            return TorchBatch(*map(self._tensor, arrays), batch.valid, batch.epoch)
        tensors = TorchBatch(*map(self._moved, arrays), batch.valid, batch.epoch)
        # What is under way to the GPU reads the slot, whatever becomes of the arrays here.
        moved = torch.cuda.Event()
        moved.record(torch.cuda.current_stream(self._device))
        batch.release(after=moved)
        return tensors

    def _moved(self, array: np.ndarray | GpuArray) -> torch.Tensor:
        if isinstance(array, np.ndarray):
            return _viewed(array).to(self._device, non_blocking=True)
        view = _typed(torch.as_tensor(array, device=f"cuda:{array.device}"), array)
        # A clone is of the same GPU; another one gets a copy in any case.
        return view.clone() if self._copy and view.device == self._device else view.to(self._device, non_blocking=True)


def _device(asked: Any, ring: torch.device | None) -> torch.device | None:  # noqa: ANN401 - as PyTorch
    """Where tensors are to stand: None for the host, as it is without a GPU ring."""
    if asked is None and (ring is None or not torch.cuda.is_initialized()):
        return ring
    device = torch.device("cuda" if asked is None else asked)
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device


class _Writable:
    """An array's memory without the mark that it is read-only: PyTorch has no such mark, and warns where it is lost."""

    def __init__(self, array: np.ndarray) -> None:
        address, _read_only = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
        # numpy keeps this object for as long as it uses the memory.
        self._keep = array


def _copied(array: np.ndarray | GpuArray) -> torch.Tensor:
    return _tensor(array.copy() if isinstance(array, np.ndarray) else array.numpy())


def _viewed(array: np.ndarray | GpuArray) -> torch.Tensor:
    # In the host there is no view of what stands in a GPU.
    return _tensor(np.asarray(_Writable(array))) if isinstance(array, np.ndarray) else _copied(array)


def _tensor(array: np.ndarray) -> torch.Tensor:
    # PyTorch before 2.3 has no uint16.
    signed = array.view(np.int16) if array.dtype == BFLOAT16_BITS else array
    return _typed(torch.from_numpy(signed), array)


def _typed(tensor: torch.Tensor, array: np.ndarray | GpuArray) -> torch.Tensor:
    """The tensor of an array, whose bits stand for bfloat16 where that is the array's type."""
    return tensor.view(torch.bfloat16) if array.dtype == BFLOAT16_BITS else tensor
