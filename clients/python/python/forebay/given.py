"""From the arguments that a caller gave to the keys of the daemon. Pure: no daemon, no files, no environment."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, cast

from forebay.arguments import Arguments
from forebay.errors import SettingsError
from forebay.foreign import refuse_foreign
from forebay.groups import Lockstep, Shard, Source, Targets
from forebay.mixing import Mixing

__all__ = ["keys_of", "refuse_part", "refuse_unknown"]

_GROUPED = ("targets", "sharding", "mixing", "config")
_SECTION = "stream"


def keys_of(source: Any, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - as given
    """The bare source, and the keys of the daemon with their values.

    Sections of `config` other than "stream" stay under the key `config`.

    Args:
        source: The Loader's first argument.
        given: The others, of which the caller gave some.

    Raises:
        SettingsError: A value is not of its class, or a key of `config` is an argument.
    """
    keys = {name: value for name, value in given.items() if value is not None and name not in _GROUPED}
    keys.update(_of_class("targets", given.get("targets"), Targets))
    keys.update(_sharding(given.get("sharding")))
    keys.update(_mixing(given.get("mixing")))
    source, of_source = _source(source)
    keys.update(of_source)
    keys.update(_config(given.get("config"), keys))
    return source, keys


def refuse_part(sharding: Any) -> None:  # noqa: ANN401 - whatever the caller gave
    """Refuses a shard without its number or theirs.

    Raises:
        SettingsError: It is such a shard.
    """
    if isinstance(sharding, Shard) and None in (sharding.shard_id, sharding.num_shards):
        missing = "shard_id" if sharding.shard_id is None else "num_shards"
        raise SettingsError(f"sharding: {missing} is missing: give Shard(shard_id, num_shards)")


def refuse_unknown(given: Iterable[str], of: str) -> None:
    """Refuses what no Loader takes, as Python does where a function has no such argument.

    Raises:
        TypeError: There is such an argument. If an older version or another library has it, the way out is named.
    """
    refuse_foreign(given)
    unknown = sorted(set(given) - _names())
    if unknown:
        raise TypeError(f"{of}() got an unexpected keyword argument {unknown[0]!r}")


def _of_class(name: str, value: Any, kind: type) -> dict[str, Any]:  # noqa: ANN401 - whatever the caller gave
    """The fields that differ from their defaults: a stream is asked only for those."""
    if value is None:
        return {}
    if not isinstance(value, kind):
        raise SettingsError(f"{name}={value!r}: give forebay.{kind.__name__}(...)")
    fields = ((field, getattr(value, field.name)) for field in dataclasses.fields(cast(Any, value)))
    return {field.name: found for field, found in fields if found is not None and found != field.default}


def _sharding(sharding: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the caller gave
    if sharding == "dynamic":
        # It says that ranks share a stream on purpose.
        return {"num_shards": 1}
    if isinstance(sharding, Lockstep):
        return {"assignment": "lockstep", **_of_class("sharding", sharding, Lockstep)}
    if sharding is None or isinstance(sharding, Shard):
        return _of_class("sharding", sharding, Shard)
    raise SettingsError(f'sharding={sharding!r}: give "dynamic", forebay.Shard(...) or forebay.Lockstep(...)')


def _mixing(mixing: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the caller gave
    if isinstance(mixing, Mixing):
        return {"mixing": mixing.transform, **({"mixing_per_batch": True} if mixing.per_batch else {})}
    return {} if mixing is None else {"mixing": mixing}


def _source(source: Any) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - whatever the caller gave
    if not isinstance(source, Source):
        return source, {}
    found = {"index": source.index, "root": source.root, "source_options": source.options or None}
    return source.url, {name: value for name, value in found.items() if value is not None}


def _config(config: Any, keys: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - whatever the caller gave
    if config is None:
        return {}
    if not isinstance(config, Mapping) or not all(isinstance(section, Mapping) for section in config.values()):
        raise SettingsError(
            f'config={config!r}: give a dict of sections, such as {{"decode": {{"lanes": ["hardware", "cpu"]}}}}'
        )
    found = dict(config.get(_SECTION, {}))
    twice = sorted((found.keys() & keys.keys()) | (found.keys() & _arguments()))
    if twice:
        raise SettingsError(f"config: {twice[0]} is an argument of the Loader; give it there, and not in {_SECTION!r}")
    others = {name: section for name, section in config.items() if name != _SECTION}
    return {**found, **({"config": others} if others else {})}


def _names() -> set[str]:
    """The Loader's arguments."""
    return set(inspect.signature(Arguments.__init__).parameters) - {"self", "source"}


def _arguments() -> set[str]:
    """What is not for the section "stream": the Loader's arguments, and the fields of its groups."""
    names = _names()
    for group in (Targets, Shard, Lockstep):
        names |= {field.name for field in dataclasses.fields(group)}
    return names | {"source", "weights", "source_options", "index", "root", "assignment", "mixing_per_batch"}
