"""The names of columns that a caller asks a loader for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay.errors import SettingsError

if TYPE_CHECKING:
    from forebay.batches import Batches

__all__ = ["check_columns", "names_of"]

# The columns of every batch.
_ALWAYS = ("images", "labels", "records", "mask")


def names_of(elements: Sequence[str]) -> list[str]:
    """The names, unless they are one text.

    Raises:
        SettingsError: They are one text.
    """
    if isinstance(elements, str):
        raise SettingsError(f"elements={elements!r}: give a tuple of names, such as ({elements!r},)")
    return list(elements)


def check_columns(loader: Batches[Any], names: list[str]) -> None:
    """Looks whether the batches have these columns.

    Raises:
        SettingsError: There is no name, or no column of a name.
    """
    known = [*_ALWAYS, *(name for name, *_ in loader._feed.session.rings()[0].columns)]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        given = f"{unknown[0]!r} is not a column" if unknown else "it is empty"
        raise SettingsError(f"elements: {given}; the columns are {', '.join(known)}")
