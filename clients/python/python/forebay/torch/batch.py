"""A batch of PyTorch tensors: it unpacks as images and labels, and has its other columns by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import numpy as np
import torch

from forebay.ragged import Lists
from forebay.torch.patches import TorchPatches, torch_patches

__all__ = ["TorchBatch", "TorchRagged"]


class TorchRagged(Lists[torch.Tensor]):
    """A column with a list for each place, as tensors. It is used as `forebay.Ragged` is.

    `len(column)` is the number of places, `column[i]` the rows of place `i`, and `column.text()` gives texts as `str`.

    Attributes:
        values: The rows of all lists, one after the other: `(rows, ...)`.
        offsets: For each level, `(lists + 1,)` of int64, beginning with 0.

    Example:
        >>> for batch in loader.torch():                                                    # doctest: +SKIP
        ...     for image, boxes, caption in zip(batch.images, batch.boxes, batch.caption.text()):
        ...         show(image, boxes, caption)
    """

    __slots__ = ()

    def nested(self) -> torch.Tensor:
        """A jagged nested tensor of `torch.nested` that shares the memory of this column.

        Raises:
            TypeError: The column has lists of lists, which a nested tensor cannot have.
        """
        if len(self.offsets) > 1:
            raise TypeError(f"a nested tensor has one ragged level, and this column has {len(self.offsets)}")
        return torch.nested.nested_tensor_from_jagged(self.values, self.offsets[0])

    def to(self, device: Any, non_blocking: bool = False) -> TorchRagged:  # noqa: ANN401 - as PyTorch
        """The column on another device, as `torch.Tensor.to` moves each tensor."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> TorchRagged:
        """The column in page-locked memory, as `torch.Tensor.pin_memory` copies each tensor."""
        return self._each(lambda tensor: tensor.pin_memory())

    @staticmethod
    def _numpy(array: torch.Tensor) -> np.ndarray:
        return array.detach().cpu().numpy()

    def _each(self, change: Callable[[torch.Tensor], torch.Tensor]) -> TorchRagged:
        return TorchRagged._whole(change(self.values), tuple(map(change, self.offsets)))


# dataclass(slots=True) needs Python 3.10.
@dataclasses.dataclass(init=False, repr=False, eq=False)
class TorchBatch:
    """A batch as tensors. It unpacks as `(images, labels)`, and has everything else by name.

    `len(batch)` is 2, and `batch[0]` and `batch[1]` are images and labels. A further column of the dataset is an
    attribute and a key: `batch.boxes` and `batch["boxes"]` are the same. Use the key for a name that cannot be an
    attribute, such as `class`, or that this class has already, such as `to`. `"boxes" in batch` says whether there is
    such a column. `batch["images"]`, `batch["mask"]` and the like work too.

    You may assign attributes: `batch.images = augmented`. To leave a batch as it is, call
    `dataclasses.replace(batch, images=augmented)`. Further columns are replaced as a whole there:
    `columns={**batch.columns, "boxes": moved}`. Batches can be pickled and copied. Two batches are equal only if they
    are the same object.

    A batch is neither a tuple nor a dict, so PyTorch's DataLoader, Lightning and Accelerate leave it whole. They move
    it with `to()` and `pin_memory()`.

    Unsigned numbers become signed ones: uint16 becomes int32, and uint32 and uint64 become int64.

    Attributes:
        images: `(n, height, width, 3)`, or `(n, 3, height, width)` with `layout="NCHW"`, of the stream's dtype.
            Other modes than "RGB" have other channels in place of 3. With `buckets="ragged"`, a list of `n` tensors of
            `(height, width, 3)`.
        labels: `(n,)` of int64; -1 without a label. With `num_classes`, `(n, num_classes)` of float32.
        records: `(n,)` of int64: record numbers in the dataset's order; -1 where a place has no record.
        mask: `(n,)` of bool: False where a place repeats a record or replaces a bad one.
        valid: Number of places with records of this epoch: those where `mask` is True.
        epoch: The epoch that the batch belongs to, from 0.
        columns: The further columns of the dataset by name, each a tensor or a `TorchRagged`.
        validity: For each further column, `(n,)` of bool: False where a place has no value. The column then has 0, an
            empty list, or for a mask the number `mask_fill`.

    Example:
        >>> for images, labels in loader.torch():                                           # doctest: +SKIP
        ...     loss = criterion(model(images), labels)
        >>> for batch in loader.torch():                                                    # doctest: +SKIP
        ...     losses = criterion(model(batch.images), batch.labels) * batch.mask
    """

    __slots__ = ("columns", "epoch", "images", "labels", "mask", "records", "valid", "validity")

    images: torch.Tensor
    labels: torch.Tensor
    records: torch.Tensor
    mask: torch.Tensor
    valid: int
    epoch: int
    columns: dict[str, torch.Tensor | TorchRagged]
    validity: dict[str, torch.Tensor]

    def __init__(
        self,
        images: torch.Tensor,
        labels: torch.Tensor,
        records: torch.Tensor,
        mask: torch.Tensor,
        valid: int,
        epoch: int,
        columns: Mapping[str, torch.Tensor | TorchRagged] | None = None,
        validity: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        self.images = images
        self.labels = labels
        self.records = records
        self.mask = mask
        self.valid = valid
        self.epoch = epoch
        # A copy of a batch must not share its dicts: attributes are assigned there.
        self.columns = dict(columns or {})
        self.validity = dict(validity or {})

    def to(self, device: Any, non_blocking: bool = False) -> TorchBatch:  # noqa: ANN401 - as PyTorch
        """A batch with all tensors on another device, as `torch.Tensor.to` moves each of them.

        A tensor that is there already is shared, and not copied.
        """
        return self._each(lambda column: column.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> TorchBatch:
        """A batch with all tensors in page-locked memory, as `torch.Tensor.pin_memory` copies each of them."""
        return self._each(lambda column: column.pin_memory())

    def patches(self) -> TorchPatches:
        """The patches of a stream with `patches`, with their places in the pictures.

        Raises:
            KeyError: The stream has no patches.
        """
        return torch_patches(self.images, self["grid"])

    def _each(self, change: Callable[[Any], Any]) -> TorchBatch:
        always = {name: change(getattr(self, name)) for name in _COLUMNS if name != "images"}
        always["images"] = _changed(self.images, change)
        columns = {name: change(column) for name, column in self.columns.items()}
        validity = {name: change(valid) for name, valid in self.validity.items()}
        return dataclasses.replace(self, **always, columns=columns, validity=validity)

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter((self.images, self.labels))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, key: int | slice | str) -> Any:  # noqa: ANN401 - a column, or a part of the pair
        if not isinstance(key, str):
            return (self.images, self.labels)[key]
        if key in self.columns:
            return self.columns[key]
        if key in _KEYS:
            return getattr(self, key)
        raise KeyError(self._lack(key))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self.columns or name in _KEYS)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a column
        # Python calls this for names that are not attributes, and for own attributes before they are set.
        if name in TorchBatch.__slots__:
            raise AttributeError(name)
        try:
            return self.columns[name]
        except KeyError:
            raise AttributeError(self._lack(name)) from None

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - of any attribute
        if name not in TorchBatch.__slots__ and name in self.columns and not hasattr(type(self), name):
            self.columns[name] = value
        else:
            object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle and copy make a batch of these. Otherwise they would make one that has no attributes at first.
        return type(self), tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in _KEYS} | self.columns
        return f"TorchBatch({', '.join(f'{name}={_outline(value)}' for name, value in shown.items())})"

    def _lack(self, name: str) -> str:
        columns = ", ".join((*_COLUMNS, *self.columns))
        return f"the batch has no column {name!r}; its columns are {columns}"


# The columns of every batch, and the keys of every batch as a dict.
_COLUMNS = ("images", "labels", "records", "mask")
_KEYS = (*_COLUMNS, "valid", "epoch")


def _changed(images: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - a tensor, or a list of them
    return [change(image) for image in images] if isinstance(images, list) else change(images)


def _outline(value: Any) -> str:  # noqa: ANN401 - of any attribute
    """The type and shape of a tensor, and its device if it is not in the host."""
    if isinstance(value, list):
        return f"[{', '.join(map(_outline, value))}]"
    if isinstance(value, TorchRagged):
        return f"ragged {_outline(value.values)}"
    if not isinstance(value, torch.Tensor):
        return repr(value)
    where = "" if value.device.type == "cpu" else f" on {value.device}"
    return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}{where}"
