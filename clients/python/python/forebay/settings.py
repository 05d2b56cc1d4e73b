"""From the arguments of a Loader to what the daemon is asked for. Pure: no daemon, no files, no environment.

The settings travel as JSON with the keys of a `[streams.NAME]` table of the daemon's configuration. The daemon checks
their values. This file does only what needs Python.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Callable, Union
from urllib.parse import quote

import numpy as np

from forebay.dtype import parse
from forebay.errors import SettingsError
from forebay.groups import Source
from forebay.listed import Listed, listed
from forebay.mixture import several
from forebay.step_form import form_of
from forebay.transforms import Transform

__all__ = ["AnySource", "Request", "request", "socket_path"]

# A number, or a dict from the first epoch of each number.
Weight = Union[float, Mapping[int, float]]
AnySource = Union[str, "os.PathLike[str]", Source, Iterable[Union[Listed, Source]], Mapping[Union[str, Source], Weight]]

_STREAM = "stream:"
_READERS = ("python:", "odps:")
_SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9+-]+):(?P<path>.*)", re.DOTALL)
# A URL of an object store is not a path on this machine.
_OBJECT = re.compile(r"[A-Za-z][A-Za-z0-9+-]+://")
# As the daemon's configuration has durations.
_DURATION = re.compile(r"\s*(?P<number>\d+\.?\d*|\.\d+)\s*(?P<unit>us|ms|s|m|h|d)\s*")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 36500 * 86400


@dataclass(frozen=True)
class Request:
    """What to attach to.

    Attributes:
        stream: Name of a running daemon's stream; None for a source of this process's own daemon.
        settings: JSON document; None if the caller gave no settings.
        files: A list of files, as `forebay.listed` encodes it. None if the source is not a list.
        shard: (shard_id, num_shards) of static assignment, (rank, world_size) of lockstep; None for dynamic assignment.
        options: Options of the own daemon's command line, with their values.
        columns: The columns that the caller looks at in a running daemon's stream; None for all.
        group: The group that the trainer joins in a running daemon's stream; None for a group by itself.
        late: Whether a new group begins with the next epoch.
        wait: How long a running daemon is waited for that is not there yet.
    """

    stream: str | None
    settings: str | None
    files: bytes | None
    shard: tuple[int, int] | None
    options: tuple[tuple[str, str], ...] = ()
    columns: list[str] | None = None
    group: str | None = None
    late: bool = False
    wait: timedelta = timedelta(0)


def request(
    source: AnySource,
    given: Mapping[str, Any],
    *,
    by_name: bool,
    interpreter: str | None = None,
    modules: Sequence[str] = (),
    steps: str | None = None,
) -> Request:
    """Decides what to ask for.

    Args:
        source: A path, a list or dict of sources, a list of files or of (path, label) pairs, or `stream:NAME`.
        given: The keys that the caller gave. The daemon has a default for every other one. `config` has the sections of
            this process's own daemon.
        by_name: Whether the source is a stream's name without `stream:`, because the caller gave a socket.
        interpreter: The Python that runs custom readers, and functions of a transform list. For readers, the caller may
            name another one.
        modules: Where the caller's modules are, as `sys.path` has it.
        steps: The socket at which the caller's process answers that calls the functions of the transform list itself.

    Raises:
        SettingsError: With the first mistake that can be seen here.
    """
    stream, settings, files = _source(source, by_name=by_name, rooted="root" in given)
    settings.update(_settings(given))
    if interpreter:
        _set_interpreter(settings, interpreter)
        if stream is None and _has_functions([settings.get("transform"), settings.get("views")]):
            folders = [os.path.abspath(folder) for folder in modules]
            settings.update(python=steps or interpreter, python_path=list(dict.fromkeys(folders)))
    shard = _shard(settings)
    options = _options(given, stream)
    if stream is not None and not settings.get("pin_memory", True):
        # A trainer that does not lock pages may attach to a pinnable ring too.
        del settings["pin_memory"]
    # Buckets or patches may decide about it: then the daemon says what is missing.
    is_decided = settings.get("assignment") == "lockstep" or form_of(settings) is not None
    if stream is None and not is_decided and "batch_size" not in settings:
        raise SettingsError("batch_size is missing: give the number of records in a batch, such as 256")
    columns = None
    if stream is not None and isinstance(settings.get("columns"), list):
        # The stream has its columns; this trainer looks at some of them.
        columns = settings.pop("columns")
    group, late = _membership(settings, stream)
    wait = _wait(given.get("wait"), stream)
    text = json.dumps(settings) if settings else None
    return Request(stream, text, files, shard, options, columns, group, late, wait)


def _wait(wait: Any, stream: str | None) -> timedelta:  # noqa: ANN401 - whatever the caller gave
    if wait is None:
        return timedelta(0)
    if stream is None:
        raise SettingsError("wait: the daemon of a path is started by the Loader; give wait= with a stream alone")
    seconds = wait
    if isinstance(wait, str):
        parts = _DURATION.fullmatch(wait)
        seconds = float(parts["number"]) * _UNITS[parts["unit"]] if parts else math.nan
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds <= _LONGEST:
        raise SettingsError(f'wait={wait!r}: give seconds from 0, or a text such as "60s" or "5m"')
    return timedelta(seconds=seconds)


def _source(source: AnySource, *, by_name: bool, rooted: bool) -> tuple[str | None, dict[str, Any], bytes | None]:
    # Relative paths of a list of files start at `root`, which sources do not have.
    sources = None if rooted else several(source)
    if sources is not None:
        names, weights = sources
        settings: dict[str, Any] = {"source": [_absolute(name) for name in names]}
        return None, settings if weights is None else {**settings, "weights": weights}, None
    if not isinstance(source, (str, os.PathLike)):
        return None, {"files": True}, listed(source, rooted=rooted)
    text = os.fspath(source)
    if not isinstance(text, str):
        raise SettingsError(f"source={text!r}: give the path as str, not bytes")
    if by_name or text.startswith(_STREAM):
        name = text[len(_STREAM) :] if text.startswith(_STREAM) else text
        if not name:
            raise SettingsError(f"source={text!r}: the stream's name is missing after `{_STREAM}`")
        return name, {}, None
    return None, {"source": _absolute(text)}, None


def _set_interpreter(settings: dict[str, Any], interpreter: str) -> None:
    """Names the Python of custom readers: in the options, or behind each of several sources that needs it."""
    source = settings.get("source", "")
    if isinstance(source, str):
        if source.startswith(_READERS):
            settings["source_options"] = {"python": interpreter, **settings.get("source_options", {})}
        return
    own = "python" in settings.get("source_options", {})
    for number, name in enumerate(source):
        options = name.rpartition("?")[2]
        if name.startswith(_READERS) and not own and not re.search(r"(^|&)python=", options):
            mark = "&" if "?" in name else "?"
            source[number] = f"{name}{mark}python={quote(interpreter)}"


def _has_functions(tables: Any) -> bool:  # noqa: ANN401 - lists of transforms, or what has some
    """Whether a function in Python is among transforms, also inside others."""
    if isinstance(tables, Mapping):
        return isinstance(tables.get("python"), Mapping) or any(map(_has_functions, tables.values()))
    return isinstance(tables, (list, tuple)) and any(map(_has_functions, tables))


def _absolute(text: str) -> str:
    """A relative path starts from this process's folder, while the daemon stays in the folder where it was started."""
    # Which schemes there are, the daemon knows. Behind two slashes there is a URL, or an absolute path.
    scheme = _SCHEME.fullmatch(text)
    _refuse_empty("source", text if scheme is None else scheme["path"].partition("?")[0], text)
    if scheme is None or os.path.exists(text):
        text = os.path.abspath(text)
    elif not scheme["path"].startswith("//") and _OBJECT.match(scheme["path"]) is None:
        path, mark, options = scheme["path"].partition("?")
        text = f"{scheme['scheme']}:{os.path.abspath(path)}{mark}{options}"
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"source={text!r} is not UTF-8; give its files as a list") from None
    return text


def _refuse_empty(name: str, path: str, given: str) -> None:
    """Refuses a path without a character: relative to this process's folder, it would be that folder.

    Raises:
        SettingsError: It says how to name that folder.
    """
    if not path.strip():
        raise SettingsError(f'{name}={given!r} has no path; give one, or "." for the working folder')


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    settings = {key: value for key, value in given.items() if value is not None and key not in _OF_THE_LOADER}
    return {key: _plain(key, _OF_PYTHON[key](value) if key in _OF_PYTHON else value) for key, value in settings.items()}


def _shard(settings: dict[str, Any]) -> tuple[int, int] | None:
    """One shard without an id is dynamic assignment: each trainer takes the next batch."""
    if settings.get("assignment") == "lockstep":
        return _rank(settings)
    shard_id, num_shards = settings.get("shard_id"), settings.get("num_shards")
    if shard_id is None and num_shards in (None, 1):
        settings.pop("num_shards", None)
        return None
    if shard_id is None or num_shards is None:
        missing = "shard_id" if shard_id is None else "num_shards"
        raise SettingsError(f"{missing} is missing: give both shard_id and num_shards")
    if not 0 <= shard_id < num_shards:
        raise SettingsError(f"shard_id={shard_id}: give 0 to {num_shards - 1}, since num_shards={num_shards}")
    return shard_id, num_shards


def _rank(settings: dict[str, Any]) -> tuple[int, int]:
    rank, world = settings.get("rank"), settings.get("world_size")
    if not isinstance(rank, int) or not isinstance(world, int) or not 0 <= rank < world:
        raise SettingsError(f"rank={rank!r} of world_size={world!r}: give 0 to world_size - 1")
    return rank, world


def _membership(settings: dict[str, Any], stream: str | None) -> tuple[str | None, bool]:
    """Takes out which group the trainer joins, and whether a late one begins with the next epoch."""
    group, join = settings.pop("group", None), settings.pop("join", "next")
    if group is not None and not (isinstance(group, str) and group):
        raise SettingsError(f"group={group!r}: give the name of a group, such as 'vision'")
    if join not in ("next", "epoch"):
        raise SettingsError(f"join={join!r}: give 'next' or 'epoch'")
    if stream is None and (group is not None or join != "next"):
        name, value = ("group", group) if group is not None else ("join", join)
        raise SettingsError(
            f"{name}={value!r}: only this process reads the source, so there are no other groups. Serve the dataset "
            'with forebay serve and groups = "each", and give "stream:NAME"'
        )
    return group, join == "epoch"


def _options(given: Mapping[str, Any], stream: str | None) -> tuple[tuple[str, str], ...]:
    """The sections of this process's own daemon, as an option of its command line."""
    config = given.get("config")
    if stream is not None and config is not None:
        raise SettingsError(
            f"config={config!r}: the daemon of the stream {stream!r} has its configuration already; change that, and "
            "leave config out"
        )
    return () if config is None else (("sections", json.dumps(_plain("config", config), sort_keys=True)),)


def _steps(transform: Any) -> list[dict[str, dict[str, Any]]]:  # noqa: ANN401 - whatever the caller gave
    steps = transform if isinstance(transform, (list, tuple)) else [transform]
    wrong = next((step for step in steps if not isinstance(step, Transform)), None)
    if wrong is not None:
        raise SettingsError(f"transform: {wrong!r} is not one of forebay.transforms")
    return [step.to_settings() for step in steps]


def _views(views: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - whatever the caller gave
    if not isinstance(views, Mapping):
        raise SettingsError(f"views={views!r}: give a dict of names and lists of forebay.transforms")
    tables = {name: view if isinstance(view, Mapping) else {"transform": view} for name, view in views.items()}
    return {name: _settings(table) for name, table in tables.items()}


def _recipe(recipe: Any) -> Any:  # noqa: ANN401 - whatever the caller gave
    if not isinstance(recipe, Mapping):
        return recipe
    return {name: value for name, value in recipe.items() if value is not None}


def _mixing(mixing: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - whatever the caller gave
    if not isinstance(mixing, Transform):
        raise SettingsError(f"mixing={mixing!r}: give MixUp, CutMix or a RandomChoice of them, of forebay.transforms")
    return mixing.to_settings()


def _dtype(dtype: Any) -> str:  # noqa: ANN401 - whatever numpy or PyTorch takes
    name = parse(dtype)
    if name is None:
        raise SettingsError(f"dtype={dtype!r} is not a type: give uint8, float16, bfloat16 or float32")
    return name


def _root(root: Any, name: str = "root") -> Any:  # noqa: ANN401 - whatever the caller gave
    path = os.fspath(root)
    if isinstance(path, str):
        _refuse_empty(name, path, path)
    # What is no text is refused with all other values of a wrong type.
    return path if not isinstance(path, str) or _OBJECT.match(path) else os.path.abspath(path)


def socket_path(socket: str | os.PathLike[str]) -> str:
    """The absolute path of a daemon's socket.

    Raises:
        SettingsError: It is empty.
    """
    path = os.fspath(socket)
    _refuse_empty("socket", path, path)
    return os.path.abspath(path)


def _index(index: Any) -> Any:  # noqa: ANN401 - whatever the caller gave
    return "none" if index == "none" else _root(index, "index")


def _select(select: Any) -> Any:  # noqa: ANN401 - whatever the caller gave
    file, mark, column = os.fspath(select).partition("?column=")
    return f"{_root(file, 'select')}{mark}{column}"


def _columns(columns: Any) -> Any:  # noqa: ANN401 - whatever the caller gave
    return columns if isinstance(columns, (str, Mapping)) else list(columns)


# Settings that the Loader itself uses.
_OF_THE_LOADER = ("config", "socket", "wait", "writable")


def _policy(policy: Any) -> Any:  # noqa: ANN401 - one of an enum, or a name
    # One of our enum or of DALI's, or its name in any case. The daemon refuses others, with all other mistakes.
    name = getattr(policy, "name", policy)
    return name.lower() if isinstance(name, str) else policy


# Settings that callers give as Python objects: how each is written as the daemon reads it. All others travel as given.
_OF_PYTHON: dict[str, Callable[[Any], Any]] = {
    "transform": _steps,
    "recipe": _recipe,
    "views": _views,
    "mixing": _mixing,
    "dtype": _dtype,
    "root": _root,
    "index": _index,
    "select": _select,
    "columns": _columns,
    "last_batch_policy": _policy,
}


def _plain(key: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Numbers of numpy, tuples and the like as JSON has them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(key, item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(key, item) for name, item in value.items()}
    if isinstance(value, (str, int, float, bool)):
        return value
    raise SettingsError(f"{key}={value!r}: no setting takes a value of type {type(value).__name__}")
