"""Several sources that a caller gives, with or without weights, as the daemon reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Union
from urllib.parse import quote

import numpy as np

from forebay.errors import SettingsError
from forebay.groups import Source

__all__ = ["Sources", "several"]


class Sources(tuple[str, ...]):
    """A list of sources, although its first entry may look like a file of a list of files."""

    __slots__ = ()


_SCHEME = re.compile(r"[a-z][a-z0-9+-]+:.*", re.DOTALL)


# Numbers for all epochs, or (first epoch, numbers), as the daemon reads them.
Weights = Union[list[float], list[tuple[int, list[float]]]]


def several(source: Any) -> tuple[list[str], Weights | None] | None:  # noqa: ANN401 - whatever the caller gave
    """The names of sources and their weights, or None if the caller gave a list of files.

    Args:
        source: A dict from source to weight, a list of sources or of (source, weight) pairs, or a list of files. A list
            is one of sources if its first entry is a folder, or begins with a scheme such as `tar:`. A weight is a
            number, or a dict from first epoch to number.

    Raises:
        SettingsError: An entry is not of the kind of the first one.
    """
    if isinstance(source, Mapping):
        return _weighed(list(source.items()))
    if isinstance(source, Sources):
        return [_name(entry, number) for number, entry in enumerate(source)], None
    if not isinstance(source, (list, tuple)) or not source:
        return None
    first = source[0]
    if _is_pair(first) and _is_source(first[0]):
        return _weighed(list(source))
    if not _is_source(first):
        return None
    return [_name(entry, number) for number, entry in enumerate(source)], None


def _weighed(pairs: list[Any]) -> tuple[list[str], Weights]:
    if not pairs:
        raise SettingsError("source: the dict of sources is empty")
    names: list[str] = []
    weights: list[dict[int, float]] = []
    for number, pair in enumerate(pairs):
        if not _is_pair(pair):
            raise SettingsError(f"source: entry {number} of the sources is {pair!r}; give each as (source, weight)")
        name, weight = pair
        names.append(_name(name, number))
        weights.append(_by_epoch(name, weight))
    epochs = sorted({epoch for weight in weights for epoch in weight})
    if epochs == [0]:
        return names, [weight[0] for weight in weights]
    # Each has the weight of its latest epoch so far.
    return names, [
        (epoch, [weight[max(since for since in weight if since <= epoch)] for weight in weights]) for epoch in epochs
    ]


def _by_epoch(name: Any, weight: Any) -> dict[int, float]:  # noqa: ANN401 - whatever the caller gave
    """The weights of a source by the first epoch that has each."""
    given = weight if isinstance(weight, Mapping) else {0: weight}
    by_epoch = {_number(epoch): _number(number) for epoch, number in given.items()}
    epochs = all(isinstance(epoch, int) and epoch >= 0 for epoch in by_epoch)
    if None in by_epoch.values() or not epochs or 0 not in by_epoch:
        raise SettingsError(
            f"source: the weight of {name!r} is {weight!r}; give a number above 0, or a dict from the first epoch "
            "of each weight, such as {0: 1.0, 10: 0.5}"
        )
    return {int(epoch): float(number) for epoch, number in by_epoch.items()}


def _number(value: Any) -> int | float | None:  # noqa: ANN401 - whatever the caller gave
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _name(entry: Any, number: int) -> str:  # noqa: ANN401 - whatever the caller gave
    if isinstance(entry, Source):
        entry = _url(entry)
    if not isinstance(entry, (str, os.PathLike)) or not isinstance(os.fspath(entry), str) or not os.fspath(entry):
        raise SettingsError(f"source: entry {number} of the sources is {entry!r}; give a path or a URL")
    name: str = os.fspath(entry)
    if name.startswith("stream:"):
        raise SettingsError(f"source: {name!r} is a stream, which cannot be one of several sources; give its path")
    return name


def _url(source: Source) -> str:
    """A source of several as a URL: its root and its options are after a `?`."""
    if source.index is not None:
        raise SettingsError(f"source: index={source.index!r}: an index is of a whole dataset; leave it out")
    options = _flat(source.options)
    if source.root is not None:
        options["root"] = os.fspath(source.root)
    url = os.fspath(source.url)
    if not isinstance(url, str):
        raise SettingsError(f"source: {url!r}: give the path as str, not bytes")
    if options and _SCHEME.fullmatch(url) is None:
        raise SettingsError(f"source: {url!r} has options but no scheme; begin it with one, such as folder: or csv:")
    for name, value in options.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        url += f"{'&' if '?' in url else '?'}{name}={quote(text)}"
    return url


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a table have the names of both: `roles.boxes`."""
    flat: dict[str, Any] = {}
    for name, value in options.items():
        flat.update(
            {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, Mapping) else {name: value}
        )
    return flat


def _is_pair(entry: Any) -> bool:  # noqa: ANN401 - whatever the caller gave
    return isinstance(entry, (tuple, list)) and len(entry) == 2


def _is_source(entry: Any) -> bool:  # noqa: ANN401 - whatever the caller gave
    """A file in a list of files has no scheme and is no folder."""
    if isinstance(entry, Source):
        return True
    if not isinstance(entry, (str, os.PathLike)):
        return False
    name = os.fspath(entry)
    if not isinstance(name, str) or "\0" in name:
        return False
    return os.path.isdir(name) or (_SCHEME.fullmatch(name) is not None and not os.path.exists(name))
