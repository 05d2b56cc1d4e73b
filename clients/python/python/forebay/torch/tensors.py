"""Batches as named tuples or dicts of PyTorch tensors."""

from __future__ import annotations

import functools
import logging
from collections import namedtuple
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np
import torch

from forebay.column_names import check_columns
from forebay.converted import Converted
from forebay.dtype import BFLOAT16_BITS, signed
from forebay.errors import SettingsError
from forebay.ragged import Ragged

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.batches import Batches
    from forebay.gpu import GpuArray

__all__ = ["TorchBatch", "TorchLoader", "TorchRagged"]

_log = logging.getLogger("forebay")


class TorchRagged(NamedTuple):
    """A column with a list for each place, as tensors: see `forebay.Ragged`.

    Attributes:
        values: The rows of all lists, one after the other: `(rows, ...)`.
        offsets: For each level, `(lists + 1,)` of int64, beginning with 0.
    """

    values: torch.Tensor
    offsets: tuple[torch.Tensor, ...]

    def nested(self) -> torch.Tensor:
        """A jagged nested tensor of `torch.nested` that shares the memory of this column.

        Raises:
            TypeError: The column has lists of lists, which a nested tensor cannot have.
        """
        if len(self.offsets) > 1:
            raise TypeError(f"a nested tensor has one ragged level, and this column has {len(self.offsets)}")
        return torch.nested.nested_tensor_from_jagged(self.values, self.offsets[0])


class TorchBatch(NamedTuple):
    """A batch as tensors.

    Further columns of the dataset are further fields: tensors, or `TorchRagged`. A batch with such columns has its own
    type, whose first fields are those of this type. Its last field, `validity`, is a dict. For each further column, the
    dict has a tensor `(n,)` of bool. It is False where a place has no value; the column then has 0, an empty list, or
    for a mask the number `mask_fill`. Unsigned numbers become signed ones: uint16 becomes int32, and uint32 and uint64
    become int64.

    Attributes:
        images: `(n, height, width, 3)`, or `(n, 3, height, width)` with `layout="NCHW"`, of the stream's dtype.
        labels: `(n,)` of int64; -1 without a label. With `num_classes`, `(n, num_classes)` of float32.
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


class TorchLoader(Converted[Any]):
    """A Loader that gives `TorchBatch`, or a dict of tensors.

    Everything else is the same as in the Loader, with which it shares its session.

    Attributes:
        loader: The Loader.

    Example:
        >>> for batch in loader.torch(device="cuda"):                                   # doctest: +SKIP
        ...     loss = criterion(model(batch.images), batch.labels)
    """

    def __init__(
        self,
        loader: Batches[Batch],
        *,
        copy: bool,
        device: Any = None,  # noqa: ANN401 - as PyTorch
        as_dict: bool = False,
        elements: list[str] | None = None,
        soft_labels: tuple[int, float] | None = None,
    ) -> None:
        if elements is not None:
            check_columns(loader, elements)
        ring = None if loader.placement == "host" else torch.device(loader.placement.replace("gpu", "cuda"))
        on = _device(device, ring)
        super().__init__(loader, _Tensors(on, copy=copy, as_dict=as_dict, elements=elements, soft_labels=soft_labels))
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
        as_dict: Whether a batch is a dict.
        elements: The columns of a batch; None for all of them.
        soft_labels: The number of classes, and the label smoothing, if labels are soft.
    """

    def __init__(
        self,
        device: torch.device | None,
        *,
        copy: bool,
        as_dict: bool,
        elements: list[str] | None,
        soft_labels: tuple[int, float] | None,
    ) -> None:
        self._device = device
        self._copy = copy
        self._as_dict = as_dict
        self._elements = elements
        self._soft_labels = soft_labels

    def __call__(self, batch: Batch) -> Any:  # noqa: ANN401 - a dict, or a named tuple
        in_host = self._device is None or self._device.type == "cpu"
        convert = (_copied if self._copy else _viewed) if in_host else self._moved
        names = batch.columns if self._elements is None else self._elements
        tensors = {name: self._column(batch, name, convert) for name in names}
        validity = {}
        if self._elements is None:
            validity = {name: convert(batch.validity(name)) for name in names[4:]}
        if not in_host:
            # The copies to the GPU read the slot even after the arrays here are gone.
            moved = torch.cuda.Event()
            moved.record(torch.cuda.current_stream(self._device))
            batch.release(after=moved)
        if self._elements is not None:
            return tensors if self._as_dict else tuple(tensors.values())
        if self._as_dict:
            there = {"validity": validity} if validity else {}
            return {**tensors, "valid": batch.valid, "epoch": batch.epoch, **there}
        images, labels, records, mask, *further = tensors.values()
        values = (images, labels, records, mask, batch.valid, batch.epoch, *further)
        return _tuple(tuple(validity))(*values, validity) if validity else TorchBatch(*values)

    def _column(self, batch: Batch, name: str, convert: Callable[[Any], torch.Tensor]) -> Any:  # noqa: ANN401 - as TorchBatch
        if name == "images":
            return convert(batch.images)
        if name == "labels" and self._soft_labels is not None:
            return convert(batch.soft_labels(*self._soft_labels))
        return _column(batch, name, convert)

    def _moved(self, array: np.ndarray | GpuArray) -> torch.Tensor:
        if isinstance(array, np.ndarray):
            return _viewed(array).to(self._device, non_blocking=True)
        view = _typed(torch.as_tensor(array, device=f"cuda:{array.device}"), array)
        # A move to another GPU is a copy already.
        return view.clone() if self._copy and view.device == self._device else view.to(self._device, non_blocking=True)


@functools.cache
def _tuple(further: tuple[str, ...]) -> Any:  # noqa: ANN401 - a class
    """The type of a batch with these further columns."""
    taken = [name for name in further if iskeyword(name) or name.startswith("_") or hasattr(TorchBatch, name)]
    if taken:
        raise SettingsError(
            f"the column {taken[0]!r} cannot be a field of a named tuple: give as_dict=True, or another name with the "
            "Loader's columns"
        )
    made = namedtuple("TorchBatch", (*TorchBatch._fields, *further, "validity"))
    # pickle finds no class of this module by its name: it makes the class again.
    made.__reduce__ = lambda self: (_again, (further, tuple(self)))  # type: ignore[method-assign]
    return made


def _again(further: tuple[str, ...], values: tuple[Any, ...]) -> Any:  # noqa: ANN401 - of a class made here
    return _tuple(further)(*values)


def _column(batch: Batch, name: str, convert: Callable[[Any], torch.Tensor]) -> Any:  # noqa: ANN401 - as TorchBatch
    column = batch[name]
    if batch._is_bfloat16(name):
        # The conversion takes its bits for what they are, as those of the images.
        return convert(column)
    if isinstance(column, Ragged):
        return TorchRagged(convert(signed(column.values)), tuple(map(convert, column.offsets)))
    return convert(signed(column))


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
    return tensor_of(array.copy() if isinstance(array, np.ndarray) else array.numpy())


def _viewed(array: np.ndarray | GpuArray) -> torch.Tensor:
    # The host has no view of memory of a GPU.
    return tensor_of(np.asarray(_Writable(array))) if isinstance(array, np.ndarray) else _copied(array)


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """A tensor that shares the array's memory. The bits of bfloat16 become values of that type."""
    # PyTorch before 2.3 has no uint16.
    signed = array.view(np.int16) if array.dtype == BFLOAT16_BITS else array
    return _typed(torch.from_numpy(signed), array)


def _typed(tensor: torch.Tensor, array: np.ndarray | GpuArray) -> torch.Tensor:
    """The tensor as bfloat16, if the array holds the bits of bfloat16."""
    return tensor.view(torch.bfloat16) if array.dtype == BFLOAT16_BITS else tensor
