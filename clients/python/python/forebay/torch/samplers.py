"""What scripts and frameworks look for in a DataLoader: its sampler and its batch sampler."""

from __future__ import annotations

import sys
import weakref
from typing import Any, NoReturn, Protocol

import torch

from forebay.errors import ClosedError, SettingsError

__all__ = ["OwnBatchSampler", "SamplerAttribute", "own_sampler"]

_NO_INDICES = (
    "forebay.torch.DataLoader has no lists of indices, since the daemon makes the batches. So skip_first_batches() of "
    "Accelerate, resume_from_checkpoint of Hugging Face's Trainer within an epoch, and other code that makes another "
    "DataLoader of it cannot work. Save state_dict() of the DataLoader in the checkpoint, and call load_state_dict() "
    "before the first epoch. With Accelerate, accelerator.register_for_checkpointing(loader) does both. With Trainer, "
    "give ignore_data_skip=True, and do as examples/hf_trainer.py and docs/pytorch.md do"
)
_NO_OVERFIT = (
    "Lightning: overfit_batches turns shuffling off by making another DataLoader, and it cannot make one of "
    "forebay.torch.DataLoader. {} while you overfit: its first batches are then the same in each epoch"
)
_NOT_SHUFFLED = "Give the DataLoader shuffle=False and no sampler"
_STREAM_NOT_SHUFFLED = (
    "The daemon decides on the order of a stream. Set shuffle = false in the table [streams.{}] of its configuration, "
    "and give the DataLoader shuffle=False, which asks for that,"
)


class Sampled(Protocol):
    """The DataLoader whose samplers these are."""

    batch_size: int
    drop_last: bool
    loader: Any

    def __len__(self) -> int: ...

    def set_epoch(self, epoch: int) -> None:
        """Goes to an epoch."""


class _Own:
    """Belongs to a DataLoader, which has it. A strong reference would keep its ring until the cycle collector runs."""

    def __init__(self, loader: Sampled) -> None:
        self._of = weakref.ref(loader)

    @property
    def _loader(self) -> Sampled:
        loader = self._of()
        if loader is None:
            raise ClosedError("the DataLoader of this sampler is gone: keep the DataLoader too")
        return loader


class OwnSampler(_Own):
    """What scripts look for in `loader.sampler`."""

    def set_epoch(self, epoch: int) -> None:
        """See `DataLoader.set_epoch`."""
        self._loader.set_epoch(epoch)

    def __len__(self) -> int:
        return int(self._loader.loader._feed.session.records)


class OwnSequentialSampler(OwnSampler, torch.utils.data.SequentialSampler):
    """That of a DataLoader that does not shuffle. Lightning looks for this class if it has `overfit_batches`."""

    def __iter__(self) -> NoReturn:
        raise SettingsError(_NO_INDICES)


def own_sampler(loader: Sampled, shuffle: bool | None) -> OwnSampler:
    """The sampler of a DataLoader. If it has asked a stream for nothing (None), the stream may shuffle."""
    return OwnSequentialSampler(loader) if shuffle is False else OwnSampler(loader)


class SamplerAttribute:
    """`loader.sampler`. Lightning's `overfit_batches` is refused by name if it is about to make another DataLoader."""

    def __get__(self, loader: Any, _: Any = None) -> Any:  # noqa: ANN401 - as torch
        if loader is None:
            return self
        sampler = vars(loader)["sampler"]
        if not isinstance(sampler, torch.utils.data.SequentialSampler) and _is_overfitting():
            stream = vars(loader)["_stream"]
            way_out = _NOT_SHUFFLED if stream is None else _STREAM_NOT_SHUFFLED.format(stream)
            raise SettingsError(_NO_OVERFIT.format(way_out))
        return sampler

    def __set__(self, loader: Any, sampler: Any) -> None:  # noqa: ANN401 - as torch
        vars(loader)["sampler"] = sampler


def _is_overfitting() -> bool:
    """Whether the caller is the part of Lightning that makes another DataLoader. Its own error says nothing of that."""
    frame = sys._getframe(2)
    # In between, there is a generator.
    names = (frame.f_code.co_name, frame.f_back.f_code.co_name if frame.f_back else "")
    return "_resolve_overfit_batches" in names


class OwnBatchSampler(_Own):
    """What frameworks look for in `loader.batch_sampler`. A request for its lists of indices is refused by name."""

    @property
    def batch_size(self) -> int:
        """That of the DataLoader."""
        return self._loader.batch_size

    @property
    def drop_last(self) -> bool:
        """That of the DataLoader."""
        return self._loader.drop_last

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> NoReturn:
        raise SettingsError(_NO_INDICES)
