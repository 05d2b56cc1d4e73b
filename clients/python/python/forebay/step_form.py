"""What the pictures of a step have in common, if that differs from step to step: `buckets` or `patches`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["COLUMNS", "budget_of", "form_of"]

# Of what a step may have a number, so that the number of its pictures follows.
_BUDGETS = {"buckets": "pixels", "patches": "tokens"}
# The columns that batches have of it. No other stream has all of them.
COLUMNS = {
    "buckets": ("planned", "sizes", "shown", "crop"),
    "patches": ("planned", "planned_tokens", "grid"),
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
