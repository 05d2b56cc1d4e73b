"""From the arguments of a Loader to what the daemon is asked for. Pure: no daemon, no files, no environment.

The settings travel as JSON with the keys of a `[streams.NAME]` table of the daemon's configuration, which checks
their values; here stands only what Python has to decide.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from forebay.errors import SettingsError
from forebay.transforms import Transform

__all__ = ["Request", "Source", "refuse_unsharded", "request"]

Source = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

_STREAM = "stream:"
_SCHEME = re.compile(r"(?P<scheme>folder|csv|files):(?P<path>.*)", re.DOTALL)
_FOREIGN_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://")
_HOW_TO_SHARD = """\
this process is one of {world} that train together (found by {sign}), and neither shard_id nor num_shards is given.
Ranks that wait for each other in every step need the same number of batches each:
    forebay.Loader(..., shard_id={rank}, num_shards={world})
Only trainers that do not wait for each other may share one stream, each taking whatever batch is next:
    forebay.Loader("stream:NAME", ..., num_shards=1)        # with `forebay serve` running"""
_HOW_TO_SHARD_A_STREAM = """\
this process is one of {world} that train together (found by {sign}), and neither shard_id nor num_shards is given.
Ranks that wait for each other in every step need the same number of batches each. The daemon's configuration says so:
    [streams.{stream}]
    num_shards = {world}
    forebay.Loader("stream:{stream}", ..., shard_id={rank}, num_shards={world})
Where the stream has none, set it, restart the daemon, and begin a new run (`forebay run new {stream}`).
Only trainers that do not wait for each other may share the stream as it is, each taking whatever batch is next:
    forebay.Loader("stream:{stream}", ..., num_shards=1)"""


@dataclass(frozen=True)
class Request:
    """What to attach to.

    Attributes:
        stream: Name of a running daemon's stream; None for a source of this process's private daemon.
        settings: JSON document, or None where nothing was given.
        files: Paths separated by NUL bytes, or None.
        shard: (shard_id, num_shards) of static assignment, or None.
        options: Options of the private daemon's command line, with their values.
    """

    stream: str | None
    settings: str | None
    files: bytes | None
    shard: tuple[int, int] | None
    options: tuple[tuple[str, str], ...] = ()


def request(source: Source, given: Mapping[str, Any], *, by_name: bool) -> Request:
    """Decides what to ask for.

    Args:
        source: A path, a URL, a list of files, or `stream:NAME`.
        given: The arguments that the caller wrote down; what was left out takes the daemon's default.
        by_name: The source is a stream's name without `stream:`, because a socket was given.

    Raises:
        SettingsError: With every mistake that can be seen here.
    """
    stream, settings, files = _source(source, by_name=by_name)
    settings.update(_settings(given))
    shard = _shard(settings)
    options = _options(settings, stream)
    if stream is not None and not settings.get("pin_memory", True):
        # Whoever does not lock pages can do so with a pinnable ring as well.
        del settings["pin_memory"]
    if stream is None and "batch_size" not in settings:
        raise SettingsError("batch_size is missing: how many pictures make a batch?")
    return Request(stream, json.dumps(settings) if settings else None, files, shard, options)


def refuse_unsharded(
    given: Mapping[str, Any],
    environment: Mapping[str, str],
    torch_ranks: tuple[int, int] | None,
    stream: str | None = None,
) -> None:
    """Refuses a Loader of one of several ranks that does not say how they share the data.

    Args:
        given: The arguments that the caller wrote down.
        environment: Of this process: `WORLD_SIZE` and `RANK` as torchrun sets them.
        torch_ranks: (rank, world size) of `torch.distributed` where it is initialised.
        stream: Name of a running daemon's stream, which its configuration splits.

    Raises:
        SettingsError: It shows both ways.
    """
    if "shard_id" in given or "num_shards" in given:
        return
    if torch_ranks is not None and torch_ranks[1] > 1:
        rank, world, sign = *torch_ranks, "torch.distributed"
    else:
        rank, world = _count(environment.get("RANK")), _count(environment.get("WORLD_SIZE"))
        sign = "WORLD_SIZE"
    if world > 1:
        how = _HOW_TO_SHARD if stream is None else _HOW_TO_SHARD_A_STREAM
        raise SettingsError(how.format(rank=rank, world=world, sign=sign, stream=stream))


def _source(source: Source, *, by_name: bool) -> tuple[str | None, dict[str, Any], bytes | None]:
    if not isinstance(source, (str, os.PathLike)):
        files = [os.path.abspath(os.fsencode(path)) for path in _sequence(source)]
        # They travel as one list with NUL between them, and a file's name never has one.
        broken = next((path for path in files if b"\0" in path), None)
        if broken is not None:
            raise SettingsError(f"source: the path {os.fsdecode(broken)!r} has a NUL byte, which no path can have")
        return None, {"files": True}, b"\0".join(files)
    text = os.fspath(source)
    if not isinstance(text, str):
        raise SettingsError(f"source={text!r}: give the path as str, not bytes")
    if by_name or text.startswith(_STREAM):
        name = text[len(_STREAM) :] if text.startswith(_STREAM) else text
        if not name:
            raise SettingsError(f"source={text!r}: the stream's name is missing after `{_STREAM}`")
        return name, {}, None
    return None, {"source": _absolute(text)}, None


def _sequence(source: Iterable[Any]) -> list[Any]:
    files = list(source)
    wrong = next((path for path in files if not isinstance(path, (str, bytes, os.PathLike))), None)
    if wrong is not None:
        raise SettingsError(f"source: a list of files holds {wrong!r}, which is not a path")
    if not files:
        raise SettingsError("source: the list of files is empty")
    return files


def _absolute(text: str) -> str:
    """The daemon keeps the folder in which it was started; a relative path means this process's folder."""
    scheme = _SCHEME.fullmatch(text)
    if scheme:
        text = f"{scheme['scheme']}:{os.path.abspath(scheme['path'])}"
    elif not _FOREIGN_SCHEME.match(text):
        text = os.path.abspath(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"source={text!r} is not UTF-8; give its files as a list") from None
    return text


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in given.items() if value is not None and key != "socket"}
    if "random_shuffle" in settings:
        shuffle = bool(settings.pop("random_shuffle"))
        if bool(settings.setdefault("shuffle", shuffle)) != shuffle:
            raise SettingsError("shuffle and random_shuffle are two names of one setting and were given two values")
    if "transform" in settings:
        steps = settings["transform"]
        settings["transform"] = [_step(step) for step in (steps if isinstance(steps, (list, tuple)) else [steps])]
    if "dtype" in settings:
        settings["dtype"] = _dtype(settings["dtype"])
    if "root" in settings:
        settings["root"] = os.path.abspath(os.fspath(settings["root"]))
    return {key: _plain(key, value) for key, value in settings.items()}


def _shard(settings: dict[str, Any]) -> tuple[int, int] | None:
    """One shard without an id is no sharding: whoever asks gets the next batch."""
    shard_id, num_shards = settings.get("shard_id"), settings.get("num_shards")
    if shard_id is None and num_shards in (None, 1):
        settings.pop("num_shards", None)
        return None
    if shard_id is None or num_shards is None:
        missing = "shard_id" if shard_id is None else "num_shards"
        raise SettingsError(f"{missing} is missing: shard_id and num_shards are given together")
    if not 0 <= shard_id < num_shards:
        raise SettingsError(f"shard_id={shard_id}: with num_shards={num_shards} it is 0 to {num_shards - 1}")
    return shard_id, num_shards


def _options(settings: dict[str, Any], stream: str | None) -> tuple[tuple[str, str], ...]:
    """What is of the daemon and not of the stream."""
    given = [(name, settings.pop(name)) for name in _OF_THE_DAEMON if name in settings]
    if given and stream is not None:
        name, value = given[0]
        raise SettingsError(
            f"{name}={value!r}: this is the daemon's own for all its streams, {stream!r} among them; set {name} in the "
            "[decode] table of its configuration"
        )
    return tuple((name.replace("_", "-"), _OF_THE_DAEMON[name](name, value)) for name, value in given)


def _lanes(name: str, value: Any) -> str:  # noqa: ANN401 - whatever the caller gave
    named = [value] if isinstance(value, str) else value
    if not (isinstance(named, list) and named and all(isinstance(lane, str) and lane for lane in named)):
        raise SettingsError(f'{name}={value!r}: give "auto", or a list of names such as ["hardware", "cpu"]')
    return ",".join(named)


def _limit(name: str, value: Any) -> str:  # noqa: ANN401 - whatever the caller gave
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise SettingsError(f"{name}={value!r}: give a whole number")
    return str(value)


_OF_THE_DAEMON = {"lanes": _lanes, "pixel_limit": _limit, "byte_limit": _limit}


def _step(step: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - whatever the caller gave
    if not isinstance(step, Transform):
        raise SettingsError(f"transform: {step!r} is none of forebay.transforms")
    return step.to_settings()


def _dtype(dtype: Any) -> str:  # noqa: ANN401 - whatever numpy or PyTorch takes
    # PyTorch's types have numpy's names, and one that numpy has not.
    name = str(dtype).rpartition("torch.")[2]
    if name == "bfloat16":
        return name
    try:
        return np.dtype(name if str(dtype).startswith("torch.") else dtype).name
    except TypeError:
        raise SettingsError(f"dtype={dtype!r} is not known; use uint8, float16, bfloat16 or float32") from None


def _plain(key: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Numpy's numbers, tuples and the like as JSON's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(key, item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(key, item) for name, item in value.items()}
    if isinstance(value, (str, int, float, bool)):
        return value
    raise SettingsError(f"{key}={value!r} is of a kind that no setting has")


def _count(text: str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        return 0
