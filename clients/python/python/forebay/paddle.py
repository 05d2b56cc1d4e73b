"""Batches as tensors of Paddle, passed on by DLPack. Nothing else needs Paddle.

Example:
    >>> import forebay.paddle                                                                   # doctest: +SKIP
    >>> train = forebay.paddle.batches("/data/train", batch_size=256, size=224, shuffle=True)   # doctest: +SKIP
    >>> for images, labels in train():                                                          # doctest: +SKIP
    ...     loss = criterion(model(images), labels)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from paddle.utils.dlpack import from_dlpack

from forebay._dlpack import capsule
from forebay.aligned import aligned_copy
from forebay.column_names import names_of
from forebay.converted import Converted
from forebay.dtype import signed
from forebay.elements import opened

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.loader import Loader
    from forebay.settings import AnySource

__all__ = ["PaddleLoader", "batches"]

# DLPack's type and number of the host.
_HOST = (1, 0)


class PaddleLoader(Converted[Any]):
    """A Loader that gives lists or dicts of `paddle.Tensor`.

    Everything else is the same as in the Loader, with which it shares its session.

    Attributes:
        loader: The Loader.
    """

    def __call__(self) -> Iterator[Any]:
        """The rest of the stream's current epoch, as `paddle.io.DataLoader` is called for it."""
        return iter(self)


def batches(
    source: AnySource | Loader,
    *,
    elements: Sequence[str] = ("images", "labels"),
    as_dict: bool = False,
    **settings: Any,  # noqa: ANN401 - those of a Loader
) -> PaddleLoader:
    """A loader whose batches are tensors of Paddle, as those of `paddle.io.DataLoader`. One `for` over it is one epoch.

    Each batch is copied once within the host, because Paddle takes no read-only memory. The tensors are yours: keep
    them, write to them, or move them to a GPU. Unsigned numbers of further columns become signed ones: uint16 becomes
    int32, and uint32 and uint64 become int64.

    Args:
        source: A Loader, or what a Loader takes as its source.
        elements: Names of the columns of a batch, in their order. Columns with a list for each record are refused.
        as_dict: True gives dicts. False gives lists, also if there is one name.
        **settings: Arguments of the Loader, such as `batch_size`, if `source` is not one.

    Raises:
        SettingsError: A setting is wrong, or there is no such column, or the pixels are in memory of a GPU.
        Error: Any other error of `forebay.Loader`.
    """
    names = names_of(elements)

    def convert(batch: Batch) -> Any:  # noqa: ANN401 - a list or a dict
        values = {name: _tensor(batch[name], bits=_is_bfloat16(batch, name)) for name in names}
        return values if as_dict else list(values.values())

    return opened(source, settings, names, lambda loader: PaddleLoader(loader, convert))


def _tensor(column: Any, *, bits: bool) -> Any:  # noqa: ANN401 - an array; a tensor
    """A copy of an array as a tensor. `bits` says that its numbers are the bits of bfloat16."""
    copied = aligned_copy(np.asarray(column) if bits else signed(column))
    return from_dlpack(capsule(copied.__array_interface__, _HOST, copied, bfloat16=bits))


def _is_bfloat16(batch: Batch, name: str) -> bool:
    return batch.dtype == "bfloat16" if name == "images" else batch._is_bfloat16(name)
