"""Which rank of a training job this process is, for lockstep assignment. Pure: the environment is an argument."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from forebay.errors import SettingsError
from forebay.step_form import form_of

__all__ = ["fill_in", "of_job", "refuse_unsharded"]

_log = logging.getLogger("forebay")

# Variables of launchers, rank and world size: torchrun, then SLURM.
_VARIABLES = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))
_HOW_TO_SHARD = """\
this process is one of {world} that train together (according to {sign}), but it has no sharding.
Give each rank a shard, so that all ranks have the same number of batches:
    forebay.Loader(..., sharding=forebay.Shard({rank}, {world}))
If the number of ranks may change, give each a part of every step:
    forebay.Loader(..., sharding=forebay.Lockstep({batch}))
If the trainers do not wait for each other, they may share one stream instead. Each takes the next batch:
    forebay.Loader("stream:NAME", ..., sharding="dynamic")  # with `forebay serve` running"""
_HOW_TO_SHARE_STEPS = """\
this process is one of {world} that train together (according to {sign}), but it has no sharding.
Give each rank a part of every step, so that all ranks have batches of the same shape:
    forebay.Loader(..., sharding=forebay.Lockstep({batch}))
If the trainers do not wait for each other, they may share one stream instead. Each takes the next batch:
    forebay.Loader("stream:NAME", ..., sharding="dynamic")  # with `forebay serve` running"""
_HOW_TO_SHARD_A_STREAM = """\
this process is one of {world} that train together (according to {sign}), but it has no sharding.
Give each rank a shard, so that all ranks have the same number of batches. The daemon's configuration needs:
    [streams.{stream}]
    num_shards = {world}
Then restart the daemon, begin a new run (`forebay run new {stream}`), and attach with:
    forebay.Loader("stream:{stream}", ..., sharding=forebay.Shard({rank}, {world}))
If the trainers do not wait for each other, they may share the stream as it is. Each takes the next batch:
    forebay.Loader("stream:{stream}", ..., sharding="dynamic")"""


def fill_in(
    given: Mapping[str, Any], environment: Mapping[str, str], ranks: tuple[int, int, str] | None
) -> dict[str, Any]:
    """The arguments with `rank` and `world_size`, if they ask for lockstep and leave these out.

    Args:
        given: The arguments that the caller gave.
        environment: This process's, in which torchrun and SLURM set rank and world size.
        ranks: Rank, world size and what they were read from, if a framework has a process group.

    Raises:
        SettingsError: Only one of the two is given, or nothing says what they are.
    """
    if given.get("assignment") != "lockstep":
        return dict(given)
    there = [name for name in ("rank", "world_size") if given.get(name) is not None]
    if len(there) == 2:
        return dict(given)
    if there:
        raise SettingsError(f"{there[0]} is given alone: give both rank and world_size, or neither")
    found = ranks or _of_launcher(environment)
    if found is None:
        names = " or ".join(" and ".join(pair) for pair in _VARIABLES)
        raise SettingsError(
            f"Lockstep needs rank and world_size: give both, or start the job with torchrun or srun, which set {names}"
        )
    rank, world, sign = found
    _log.info("this process reads rank %d of %d, according to %s", rank, world, sign)
    return {**given, "rank": rank, "world_size": world}


def of_job(environment: Mapping[str, str], ranks: tuple[int, int, str] | None) -> tuple[int, int, str]:
    """Rank, world size, and what they were read from. A process that trains alone has a world size of at most 1.

    Raises:
        SettingsError: The environment has a world size without a rank.
    """
    if ranks is not None and ranks[1] > 1:
        return ranks
    rank, world = (environment.get(name, "") for name in _VARIABLES[0])
    if _count(world) > 1 and not rank.isdecimal():
        raise SettingsError(
            f"WORLD_SIZE={world} is in the environment, and RANK={rank!r} is no number: start the job with torchrun, "
            "which sets both, or give sharding=Shard(shard_id, num_shards)"
        )
    return _count(rank), _count(world), "WORLD_SIZE"


def refuse_unsharded(
    given: Mapping[str, Any],
    environment: Mapping[str, str],
    ranks: tuple[int, int, str] | None,
    stream: str | None = None,
) -> None:
    """Refuses a Loader of one of several ranks that does not say how they share the data.

    Args:
        given: The arguments that the caller gave.
        environment: This process's, in which torchrun sets `WORLD_SIZE` and `RANK`.
        ranks: Rank, world size and what they were read from, if a framework has a process group.
        stream: Name of a running daemon's stream, for which the daemon's configuration decides.

    Raises:
        SettingsError: It shows the ways to share the data.
    """
    if "shard_id" in given or "num_shards" in given or given.get("assignment") == "lockstep":
        return
    rank, world, sign = of_job(environment, ranks)
    if world > 1:
        of_path = _HOW_TO_SHARD if form_of(given) is None else _HOW_TO_SHARE_STEPS
        how = of_path if stream is None else _HOW_TO_SHARD_A_STREAM
        batch = (given.get("batch_size") or 1) * world
        raise SettingsError(how.format(rank=rank, world=world, sign=sign, stream=stream, batch=batch))


def _of_launcher(environment: Mapping[str, str]) -> tuple[int, int, str] | None:
    for names in _VARIABLES:
        texts = [environment.get(name, "") for name in names]
        if all(text.isdecimal() for text in texts):
            rank, world = (int(text) for text in texts)
            return rank, world, " and ".join(names)
    return None


def _count(text: str) -> int:
    try:
        return int(text or 0)
    except ValueError:
        return 0
