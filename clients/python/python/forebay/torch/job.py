"""How the ranks of a job share what a DataLoader reads, and which settings a state of another number of ranks needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from forebay import frameworks
from forebay.errors import SettingsError
from forebay.given import keys_of, refuse_unknown
from forebay.groups import Shard
from forebay.ranks import of_job
from forebay.step_form import budget_of, form_of

__all__ = ["keys_of_caller", "settings_of_state", "shared", "step_of"]

# Who gives one of these has decided how ranks share the dataset.
_DECISIONS = ("global_batch", "num_shards", "shard_id")
# These mean something for shards alone. A named run keeps the shards that it began with.
_OF_SHARDS = ("assignment", "pad_last_batch", "run", "stick_to_shard")


def keys_of_caller(dataset: Any, settings: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - as given
    """The bare dataset, and the keys of the daemon for the arguments of a Loader that the caller gave.

    Raises:
        TypeError: A Loader has no such argument.
        SettingsError: A value is not of its class.
    """
    refuse_unknown(settings, "DataLoader")
    bare, keys = keys_of(dataset, settings)
    sharding = settings.get("sharding")
    if isinstance(sharding, Shard) and sharding.shard_id is None:
        # It asks for shards in place of steps, and the job says which.
        keys.setdefault("pad_last_batch", True)
    return bare, keys


def shared(order: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The settings of this rank, and whether a state may decide otherwise.

    The ranks of a job read each step together, so that the state of one is the state of all. Frameworks save that of
    rank 0 alone, and load it in all ranks.

    Args:
        order: Settings that follow from the arguments of torch, with the shard of a `DistributedSampler`.
        given: Settings of the Loader that the caller gave by their names there.

    Raises:
        SettingsError: The environment has a world size without a rank.
    """
    if given.get("assignment") == "lockstep" or any(name in given for name in _DECISIONS):
        return dict(order), False
    found = dict(order)
    if "num_shards" in order:
        rank, world = order["shard_id"], order["num_shards"]
    else:
        rank, world, _ = of_job(os.environ, frameworks.ranks())
    follows_state = not any(name in given for name in _OF_SHARDS)
    if world <= 1:
        return found, follows_state
    # Ranks cannot have shards of buckets or patches.
    if not follows_state and form_of(given) is None:
        return {**found, "shard_id": rank, "num_shards": world}, False
    batch = found.get("batch_size")
    return in_steps(found, None if batch is None else batch * world, rank, world), follows_state


def in_steps(settings: Mapping[str, Any], global_batch: int | None, rank: int, world: int) -> dict[str, Any]:
    """The same settings for a rank that reads its part of steps of so many records. None: pixels or tokens decide."""
    found = {name: value for name, value in settings.items() if name not in ("batch_size", "shard_id", "num_shards")}
    found.update(assignment="lockstep", rank=rank, world_size=world)
    return found if global_batch is None else {**found, "global_batch": global_batch}


def step_of(settings: Mapping[str, Any], batch_size: int) -> dict[str, int]:
    """What a count of batches is about: the records of a step. Nothing where pixels or tokens decide about these.

    Args:
        settings: All settings of the Loader.
        batch_size: Places of its batches.
    """
    if budget_of(settings) is not None:
        return {}
    steps = settings.get("global_batch")
    return {"batch_size": batch_size} if steps is None else {"global_batch": steps}


def settings_of_state(settings: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings with which a Loader takes a state that it refuses with those that it has. None if there are none.

    A job keeps the steps that it had, whatever the number of ranks. A rank's state without them is of its
    shard: DataLoaders had shards before they read in steps.

    Raises:
        SettingsError: So many ranks cannot share the steps of the state.
    """
    rank, world = settings.get("rank", 0), settings.get("world_size", 1)
    steps = state.get("global_batch")
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        if "global_batch" not in settings:
            return None
        found = in_steps(settings, 0, 0, 0)
        for name in ("assignment", "global_batch", "rank", "world_size"):
            found.pop(name)
        return {**found, "batch_size": settings["global_batch"] // world, "shard_id": rank, "num_shards": world}
    if steps == settings.get("global_batch"):
        return None
    if steps % world:
        fit = ", ".join(str(ranks) for ranks in range(1, min(steps, 1024) + 1) if steps % ranks == 0)
        raise SettingsError(
            f"this state is of a job whose steps have {steps} records, which {world} ranks cannot share. Continue with "
            f"one of these numbers of ranks: {fit}"
        )
    return in_steps(settings, steps, rank, world)
