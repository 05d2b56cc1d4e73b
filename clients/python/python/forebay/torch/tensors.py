"""The conversion of batches to PyTorch tensors."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np
import torch

from forebay.batch import Padded
from forebay.column_names import check_columns
from forebay.converted import Converted
from forebay.dtype import BFLOAT16_BITS, signed
from forebay.errors import SettingsError
from forebay.pictures import cut_pictures
from forebay.ragged import Ragged
from forebay.torch.batch import TorchBatch, TorchRagged
from forebay.torch.patches import named_patches

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.batches import Batches
    from forebay.gpu import GpuArray

__all__ = ["TorchBatch", "TorchLoader", "TorchRagged"]

_log = logging.getLogger("forebay")

T = TypeVar("T")


class TorchLoader(Converted[T]):
    """A Loader that gives `T`: `TorchBatch`, or a tuple or dict of tensors.

    Everything else is the same as in the Loader, with which it shares its session.

    Attributes:
        loader: The Loader.

    Example:
        >>> for images, labels in loader.torch(device="cuda"):                          # doctest: +SKIP
        ...     loss = criterion(model(images), labels)
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
        names: str | None = None,
    ) -> None:
        if names is not None and loader._feed.form != "patches":
            raise SettingsError(f'names="{names}": the stream has no patches; give the Loader patches, or leave it out')
        if elements is not None:
            check_columns(loader, elements)
        ring = None if loader.placement == "host" else torch.device(loader.placement.replace("gpu", "cuda"))
        on = _device(device, ring)
        to = _Tensors(on, copy=copy, as_dict=as_dict, elements=elements, soft_labels=soft_labels)
        super().__init__(loader, to if names is None else _Named(names, to))
        if ring is not None and on is not None and on.type == "cuda" and on != ring:
            _log.warning(
                "the batches are on %s, and each of them is copied to %s: give the trainers of each GPU their own "
                'stream, or set placement="host" for a stream that several GPUs read',
                ring,
                on,
            )


class _Named:
    """The conversion of a batch of patches to the inputs of a model, and the batch."""

    def __init__(self, names: str, tensors: _Tensors) -> None:
        self._names = names
        self._tensors = tensors

    def __call__(self, batch: Batch) -> tuple[dict[str, Any], TorchBatch]:
        converted = self._tensors(batch)
        return named_patches(self._names, converted.images, converted["grid"]), converted


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

    def __call__(self, batch: Batch) -> Any:  # noqa: ANN401 - a TorchBatch, a dict, or a tuple
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
        always = {name: tensors.pop(name) for name in names[:4]}
        return TorchBatch(**always, valid=batch.valid, epoch=batch.epoch, columns=tensors, validity=validity)

    def _column(self, batch: Batch, name: str, convert: Callable[[Any], torch.Tensor]) -> Any:  # noqa: ANN401 - as TorchBatch
        if name == "labels" and self._soft_labels is not None:
            return convert(batch.soft_labels(*self._soft_labels))
        return _column(batch, name, convert)

    def _moved(self, array: np.ndarray | GpuArray) -> torch.Tensor:
        if isinstance(array, np.ndarray):
            return _viewed(array).to(self._device, non_blocking=True)
        view = _typed(torch.as_tensor(array, device=f"cuda:{array.device}"), array)
        # A move to another GPU is a copy already.
        return view.clone() if self._copy and view.device == self._device else view.to(self._device, non_blocking=True)


def _column(batch: Batch, name: str, convert: Callable[[Any], torch.Tensor]) -> Any:  # noqa: ANN401 - as TorchBatch
    if name == "images" and batch._ragged:
        # One conversion moves all pictures: they are views of its result.
        return cut_pictures(convert(batch._pixels_of_all(unmarked=True)), batch["shown"])
    if name in Padded._fields:
        return convert(batch._unmarked(name))
    column = batch[name]
    if batch._is_bfloat16(name):
        # The conversion takes its bits for what they are, as those of the images.
        return convert(column)
    if isinstance(column, Ragged):
        return TorchRagged._whole(convert(signed(column.values)), tuple(map(convert, column.offsets)))
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
    if not isinstance(array, np.ndarray):
        return _copied(array)
    return tensor_of(array if array.flags.writeable else np.asarray(_Writable(array)))


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """A tensor that shares the array's memory. The bits of bfloat16 become values of that type."""
    # PyTorch before 2.3 has no uint16.
    signed = array.view(np.int16) if array.dtype == BFLOAT16_BITS else array
    return _typed(torch.from_numpy(signed), array)


def _typed(tensor: torch.Tensor, array: np.ndarray | GpuArray) -> torch.Tensor:
    """The tensor as bfloat16, if the array holds the bits of bfloat16."""
    return tensor.view(torch.bfloat16) if array.dtype == BFLOAT16_BITS else tensor
