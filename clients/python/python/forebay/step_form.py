"""What the pictures of a step have in common, if that differs from step to step: `buckets` or `patches`.

With `buckets="ragged"` they have nothing in common: each picture has a size of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forebay.errors import SettingsError

__all__ = ["COLUMNS", "budget_of", "columns_of", "form_of", "form_of_columns", "is_ragged", "refuse_ragged"]

# Of what a step may have a number, so that the number of its pictures follows.
_BUDGETS = {"buckets": "pixels", "patches": "tokens"}
# The columns that batches have of it. No other stream has all of them, and the first that fits counts.
COLUMNS = {
    "buckets": ("planned", "sizes", "shown", "crop"),
    "patches": ("planned", "planned_tokens", "grid"),
    "ragged": ("planned", "shown"),
}


def form_of(settings: Mapping[str, Any]) -> str | None:
    """The argument that a Loader has: "buckets" or "patches". None if all its batches have one shape."""
    return next((name for name in _BUDGETS if settings.get(name) is not None), None)


def budget_of(settings: Mapping[str, Any]) -> str | None:
    """What decides about the number of pictures of a step: "pixels" or "tokens". None if the number is fixed."""
    form = form_of(settings)
    table = None if form is None else settings[form]
    if form is None or not isinstance(table, Mapping) or table.get(_BUDGETS[form]) is None:
        return None
    return _BUDGETS[form]


def columns_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that batches have of a Loader's form of steps."""
    form = form_of(settings)
    return () if form is None else COLUMNS["ragged" if is_ragged(settings) else form]


def form_of_columns(names: Iterable[str]) -> str | None:
    """The form of a stream whose batches have these columns: "buckets", "patches" or "ragged"."""
    known = set(names)
    return next((form for form, columns in COLUMNS.items() if known.issuperset(columns)), None)


def is_ragged(settings: Mapping[str, Any]) -> bool:
    """Whether a Loader with these settings has pictures that each have a size of their own."""
    buckets = settings.get("buckets")
    return (buckets.get("rule") if isinstance(buckets, Mapping) else buckets) == "ragged"


def refuse_ragged(form: str | None, what: str) -> None:
    """Refuses a stream whose pictures each have a size of their own, where these are not understood.

    Raises:
        SettingsError: It is one.
    """
    if form == "ragged":
        raise SettingsError(
            f'{what}: buckets="ragged" has pictures of different sizes; use the Loader or loader.torch()'
        )
