"""What a build has lost of what an older one had. New names are no loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compat import surface

# Keys of the configuration that were renamed. The old name is refused, and the error has the new one.
RENAMED_KEYS = {
    "streams.train.shard_size": "streams.train.lease_size",
    "streams.train.group": "streams.train.unix_group",
    "control.group": "control.unix_group",
}
# Names of fields that were renamed. Their numbers and types, which are what is stored and sent, are the same.
RENAMED_FIELDS = {"shard_size": "lease_size", "shard_size_required": "lease_size_required", "hand_in": "resumed"}


def names(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Public names of Python that are gone, or that can no longer be called as before; and lost bases of classes."""
    gone = [name for name in old["names"] if name not in new["names"]]
    found = {name: (taken, new["names"].get(name)) for name, taken in old["names"].items() if name not in gone}
    calls = [f"{name}: {loss}" for name, (was, now) in found.items() if was is not None for loss in _calls(was, now)]
    bases = [
        f"{name} is no {base}"
        for name, wanted in old["bases"].items()
        for base in wanted
        if base not in new["bases"].get(name, ())
    ]
    return gone + calls + bases


def _calls(old: Sequence[str], new: Sequence[str] | None) -> Iterator[str]:
    """Ways to call the old function that the new one refuses."""
    if new is None:
        yield "it cannot be called"
        return
    by_place, by_name = _divided(old)
    new_by_place, new_by_name = _divided(new)
    if new_by_place[: len(by_place)] != by_place:
        yield f"its arguments were ({', '.join(by_place)}), and are ({', '.join(new_by_place)})"
    added = new_by_place[len(by_place) :] + new_by_name
    yield from (f"{each} is gone" for each in by_name if each not in added)
    yield from (f"{each} is required" for each in added if each not in by_name and "=" not in each and each[0] != "*")


def _divided(parameters: Sequence[str]) -> tuple[list[str], list[str]]:
    at = parameters.index("*") if "*" in parameters else len(parameters)
    return list(parameters[:at]), list(parameters[at + 1 :])


def commands(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> list[str]:
    """Commands and options that are gone, and arguments that are new and required."""
    found = []
    for command, words in old.items():
        if command not in new:
            found.append(command)
            continue
        options = [word for word in words if word.startswith("-")]
        found += [f"{command} {option}" for option in options if option not in new[command]]
        arguments, now = ([word for word in each if not word.startswith("-")] for each in (words, new[command]))
        # Their names are for people: only how many there are, and which of them are required, is depended on.
        required = [word[0] == "<" and (arguments[at : at + 1] or "[")[0][0] == "[" for at, word in enumerate(now)]
        if len(now) < len(arguments) or any(required):
            found.append(f"{command}: its arguments were {' '.join(arguments)}, and are {' '.join(now)}")
    return found


def settings(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Keys that are gone, or whose default is another one. A renamed key is compared under its new name."""
    old = {RENAMED_KEYS.get(key, key): said for key, said in old.items()}
    gone = [key for key in old if key not in new]
    return gone + [
        f"{key}: the default was {was['value']}, and is {new[key]['value']}"
        for key, was in old.items()
        if key not in gone and was["default"] and was["value"] != new[key]["value"]
    ]


def metrics(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> list[str]:
    """Metrics that are gone, have another type, or lack a label."""
    return [
        f"{name} {' '.join(was)}"
        for name, was in old.items()
        if not set(was) <= set(new.get(name, ())) or new[name][0] != was[0]
    ]


def fields(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> list[str]:
    """Fields that a command's JSON lacks."""
    return [f"{command}: {path}" for command, paths in old.items() for path in paths if path not in new[command]]


def messages(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Numbers of fields that are gone, or that mean something else. Reserved ones are ignored in documents."""
    old = {number: _renamed_field(was) for number, was in old.items()}
    found = [(number, was, new.get(number)) for number, was in old.items()]
    return [f"{number} was {was}, and is {now}" for number, was, now in found if now not in (was, surface.RESERVED)]


def _renamed_field(was: str) -> str:
    kind, _, name = was.rpartition(" ")
    return f"{kind} {RENAMED_FIELDS.get(name, name)}".lstrip()


def ring(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Tables of bytes that differ under the same version of the protocol."""
    if new["protocol"] != old["protocol"]:
        return [] if new["protocol"] > old["protocol"] else [f"protocol {new['protocol']} was {old['protocol']}"]
    return [title for title, rows in old["tables"].items() if new["tables"].get(title) != rows]
