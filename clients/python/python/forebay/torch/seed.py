"""The seed of a DataLoader: PyTorch's own, which all ranks of a job agree on."""

from __future__ import annotations

import datetime
import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

import torch

from forebay import frameworks, transforms
from forebay.errors import SettingsError
from forebay.ranks import of_job
from forebay.torch.asked import lists_of_recipe
from forebay.transforms.transform import table_name

__all__ = ["has_choices", "seed_of_torch", "tell"]

_log = logging.getLogger("forebay")

# Steps without a random choice.
_FIXED = (
    transforms.CenterCrop,
    transforms.Crop,
    transforms.ExpectSize,
    transforms.Grayscale,
    transforms.Letterbox,
    transforms.Normalize,
    transforms.Pad,
    transforms.PadBy,
    transforms.Resize,
)
# What says by itself that this process is one of several, or all of them.
_SHARES = ("shard_id", "num_shards", "rank", "world_size", "global_batch")
# Where the ranks of a job find the seed of rank 0.
_KEY = "forebay/seed"
# How long a rank waits for rank 0: at first without a word, and then in all.
_PATIENCE, _LONGEST = datetime.timedelta(seconds=10), datetime.timedelta(minutes=10)
_told: set[int] = set()


def has_choices(settings: Mapping[str, Any]) -> bool:
    """Whether anything is drawn at random: the order, what becomes of a picture, or bits for the trainer.

    Args:
        settings: All settings of the Loader.
    """
    is_drawn = settings.get("shuffle") or settings.get("draw")
    if is_drawn or any(settings.get(key) is not None for key in ("views", "mixing")):
        return True
    buckets = settings.get("buckets")
    if isinstance(buckets, Mapping) and buckets.get("crop") == "random":
        return True
    lists = lists_of_recipe(settings["recipe"]) if settings.get("recipe") is not None else {}
    fixed = {table_name(step) for step in _FIXED}
    if any(not fixed.issuperset(step) for steps in lists.values() for step in steps):
        return True
    steps = settings.get("transform") or ()
    steps = steps if isinstance(steps, (list, tuple)) else [steps]
    return not all(isinstance(step, _FIXED) for step in steps)


def seed_of_torch(settings: Mapping[str, Any]) -> int | None:
    """The seed that `torch.manual_seed()` has set, or that PyTorch has drawn; None for the Loader's default.

    Ranks must have one seed, since they share one order. Their own ones may differ: PyTorch draws them, and scripts set
    `seed + rank`. So all ranks take that of rank 0, which is fixed when rank 0 makes its first DataLoader. Where there
    is nothing to agree by, because there is no process group, the Loader's default is the same for all ranks. A named
    run has it too, since another process may continue it.

    Args:
        settings: All settings of the Loader.

    Raises:
        SettingsError: Rank 0 has made no DataLoader.
    """
    if settings.get("run") is not None:
        # Other processes continue it, and it refuses another seed.
        return None
    if settings.get("num_shards") == 1:
        # Each rank reads everything, as in PyTorch, where each has its own seed.
        return _own()
    ranks = frameworks.ranks()
    rank, world, _ = of_job(os.environ, ranks)
    if world <= 1:
        return None if any(name in settings for name in _SHARES) else _own()
    return None if ranks is None else _agreed(rank)


def tell(seed: int, source: str | None) -> None:
    """Says once which seed this is: in the log, or on stderr if the log does not show it. Of a job, rank 0 says it.

    Args:
        seed: The seed.
        source: What it is of; None if the caller gave it.
    """
    ranks = frameworks.ranks()
    if source is None or seed in _told or (ranks is not None and ranks[0] > 0):
        return
    _told.add(seed)
    text = f"the order and the random transforms have the seed {seed}, of {source}; seed={seed} repeats them"
    if _log.isEnabledFor(logging.INFO):
        _log.info(text)
    else:
        print(f"forebay: {text}", file=sys.stderr)


def _own() -> int:
    return torch.initial_seed() % 2**63


def _agreed(rank: int) -> int:
    """The seed of rank 0, by the store of the process group. No rank waits for a later one."""
    store = torch.distributed.distributed_c10d._get_default_store()
    if rank == 0:
        # Only the first one counts: later ones may be made by rank 0 alone.
        return int(store.compare_set(_KEY, "", str(_own())))
    waited = datetime.timedelta()
    while True:
        try:
            store.wait([_KEY], _PATIENCE)
            return int(store.get(_KEY))
        except RuntimeError as error:
            # The store's timeout.
            waited += _PATIENCE
            if waited == _PATIENCE:
                _log.warning("rank %d waits for the seed of rank 0, which has made no DataLoader yet", rank)
            if waited >= _LONGEST:
                raise SettingsError(
                    "seed: all ranks take that of rank 0, which has made no DataLoader. Make the first one in all "
                    "ranks, or give seed="
                ) from error
