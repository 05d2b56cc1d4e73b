"""The arguments of torch's DataLoader as settings of a Loader. What cannot be honoured is refused with the way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from forebay.errors import SettingsError
from forebay.step_form import budget_of, form_of, is_ragged, refuse_ragged
from forebay.torch.job import shared

__all__ = ["Options"]

# What does not mean anything here, and what to do instead.
_REFUSED = {
    "batch_sampler": "the daemon makes the batches: give batch_size, shuffle and drop_last",
    "worker_init_fn": "no Python runs where pictures are decoded: leave it out. Random transforms depend on seed, "
    "epoch and record alone",
    "multiprocessing_context": "there are no worker processes: leave it out",
}


@dataclass(frozen=True)
class Options:
    """Arguments of `torch.utils.data.DataLoader`, under their names there."""

    batch_size: int | None
    shuffle: bool | None
    sampler: Any
    batch_sampler: Any
    num_workers: int
    drop_last: bool
    worker_init_fn: Any
    multiprocessing_context: Any
    generator: torch.Generator | None
    prefetch_factor: int | None

    def settings(self, given: Mapping[str, Any], *, is_stream: bool) -> tuple[dict[str, Any], bool]:
        """The settings of the Loader, and whether a state may change how the ranks of a job share the dataset.

        Args:
            given: Settings of the Loader that the caller gave by their names there.
            is_stream: Whether the source is a stream of a running daemon, whose configuration decides. The defaults of
                torch then ask for nothing.

        Raises:
            SettingsError: An argument cannot be honoured.
            ValueError: Arguments contradict each other, as in torch.
        """
        for name, way_out in _REFUSED.items():
            if getattr(self, name) is not None:
                raise SettingsError(f"{name}: {way_out}")
        if self.batch_size is None:
            raise SettingsError("batch_size=None: the daemon makes batches; give a number")
        if self.num_workers < 0:
            raise ValueError(f"num_workers={self.num_workers}: give 0 or more")
        order = self._of_sampler() if self.sampler is not None else {"shuffle": bool(self.shuffle)}
        if self.generator is not None:
            order.setdefault("seed", self.generator.initial_seed() % 2**63)
        order["batch_size"] = self.batch_size
        refuse_ragged("ragged" if is_ragged(given) else None, "DataLoader")
        form = form_of(given)
        if form is None:
            order["last_batch_policy"] = "drop" if self.drop_last else "partial"
        elif self.drop_last and form == "patches":
            raise SettingsError("drop_last: with patches, the last batch of an epoch has copies: look at the mask")
        elif self.drop_last:
            raise SettingsError(
                "drop_last: with buckets, leftovers says what becomes of pictures that fill no batch: give "
                'buckets={"rule": ..., "leftovers": "drop"}'
            )
        if budget_of(given) is not None and self.batch_size == 1:
            # It decides how many pictures a batch has. torch's default asks for nothing.
            del order["batch_size"]
        if self.num_workers:
            order["num_threads"] = self.num_workers
        if self.prefetch_factor is not None:
            order["prefetch_queue_depth"] = self.prefetch_factor * max(self.num_workers, 1)
        follows_state = False
        if is_stream:
            order = self._asked_of_stream(order)
        else:
            order, follows_state = shared(order, given)
        if "global_batch" in given:
            # Each rank's batch is a part of it.
            order.pop("batch_size", None)
        return {**order, **given}, follows_state

    def _of_sampler(self) -> dict[str, Any]:
        if self.shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        sampler = self.sampler
        if isinstance(sampler, torch.utils.data.DistributedSampler):
            if sampler.drop_last:
                raise SettingsError(
                    "sampler: drop_last of DistributedSampler leaves records out of every epoch. Leave it out: shards "
                    "are padded to the same length. drop_last of the DataLoader drops batches that are not full"
                )
            shard = {"shard_id": sampler.rank, "num_shards": sampler.num_replicas}
            return {"shuffle": sampler.shuffle, "seed": sampler.seed, **shard}
        if isinstance(sampler, torch.utils.data.SequentialSampler):
            return {"shuffle": False}
        if (
            isinstance(sampler, torch.utils.data.RandomSampler)
            and not sampler.replacement
            and sampler._num_samples is None
        ):
            own = {} if sampler.generator is None else {"seed": sampler.generator.initial_seed() % 2**63}
            return {"shuffle": True, **own}
        raise SettingsError(
            f"sampler: the daemon decides on the order, and does not run {type(sampler).__name__}. Give shuffle, or a "
            "DistributedSampler. For weights, give a dict of sources with weights; for some of the records, a "
            "torch.utils.data.Subset or a list of (path, label)"
        )

    def _asked_of_stream(self, order: dict[str, Any]) -> dict[str, Any]:
        """What the caller asks of a stream, which must agree with it: everything but what torch has as default.

        `shuffle=False` is no default of torch, so the stream must not shuffle then.
        """
        defaults = {"batch_size": 1, "last_batch_policy": "partial"}
        if self.shuffle is None and self.sampler is None:
            defaults["shuffle"] = False
        mine = ("num_threads", "prefetch_queue_depth")
        return {key: value for key, value in order.items() if key not in mine and defaults.get(key) != value}
