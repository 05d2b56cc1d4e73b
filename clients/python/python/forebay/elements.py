"""Which columns of a batch a framework's loader gives, and how it packs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from forebay.batches import Batches
from forebay.errors import SettingsError
from forebay.loader import Loader

if TYPE_CHECKING:
    from forebay.settings import Source

__all__ = ["names_of", "opened", "packed"]

T = TypeVar("T")


def names_of(elements: Sequence[str]) -> list[str]:
    """The names, unless they are one text.

    Raises:
        SettingsError: They are one text.
    """
    if isinstance(elements, str):
        raise SettingsError(f"elements={elements!r}: give a tuple of names, such as ({elements!r},)")
    return list(elements)


def opened(source: Source | Loader, settings: dict[str, Any], names: list[str], use: Callable[[Loader], T]) -> T:
    """What `use` makes of a Loader: of the caller's, or of one that is opened here, and closed again if `use` fails.

    Raises:
        SettingsError: There are settings beside a Loader, or there is no such column, or it has lists, or the pixels
            are in memory of a GPU.
    """
    if not isinstance(source, Batches):
        loader = Loader(source, **settings)
    elif settings:
        raise SettingsError(
            f"{next(iter(settings))}: the Loader has its settings already; give source and settings here"
        )
    else:
        loader = source
    try:
        _check(loader, names)
        return use(loader)
    except BaseException:
        if loader is not source:
            loader.close()
        raise


def _check(loader: Loader, names: list[str]) -> None:
    if loader.placement != "host":
        raise SettingsError(
            f'the pixels are in {loader.placement}: set placement="host", or copy them as docs/operating.md shows'
        )
    has_lists = {name: levels > 0 for name, _, levels, _ in loader._feed.session.rings()[0].columns}
    known = ["images", "labels", "records", "mask", *has_lists]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        given = f"{unknown[0]!r} is not a column" if unknown else "it is empty"
        raise SettingsError(f"elements: {given}; the columns are {', '.join(known)}")
    ragged = next((name for name in names if has_lists.get(name)), None)
    if ragged is not None:
        raise SettingsError(
            f"elements: {ragged!r} has a list for each place, which no array here can have: read the Loader"
        )


def packed(names: list[str], values: list[Any], *, as_dict: bool) -> Any:  # noqa: ANN401 - a tuple, a dict or a value
    """The values of a batch as a dict, a tuple, or the one that there is."""
    if as_dict:
        return dict(zip(names, values))
    return tuple(values) if len(values) > 1 else values[0]
