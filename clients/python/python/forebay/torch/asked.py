"""Which columns a DataLoader's caller asked for, beside images and labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from forebay._native import named_recipe
from forebay.step_form import columns_of
from forebay.transforms.in_process import document

__all__ = ["asked_columns", "lists_of_recipe"]

# The columns of every batch that a DataLoader gives in any case.
_ALWAYS = ("images", "labels")
_MIXED = ("mixed_labels", "mix")


def asked_columns(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The names in their order: `columns`, `masks`, `views`, a recipe's views, `mixing`, the form of steps, and `draw`.

    What a dataset has by itself was not asked for: without any of these settings, a batch is images and labels.

    Args:
        settings: Those of the Loader that the caller gave.
    """
    return tuple(name for name in dict.fromkeys(_names(settings)) if name not in _ALWAYS)


def _names(settings: Mapping[str, Any]) -> Iterator[str]:
    for key in ("columns", "masks", "views"):
        # A table of names, or a list of them.
        yield from settings.get(key) or ()
    recipe = settings.get("recipe")
    if recipe is not None:
        yield from lists_of_recipe(recipe)
    if settings.get("mixing") is not None:
        yield from _MIXED
    yield from columns_of(settings)
    if settings.get("draw"):
        yield "draw"


def lists_of_recipe(recipe: Any) -> dict[str, list[dict[str, Any]]]:  # noqa: ANN401 - a name, or a table with one
    """The lists of a recipe's steps, by view. Empty if there is no such recipe."""
    given = dict(recipe) if isinstance(recipe, Mapping) else {"name": recipe}
    name = given.pop("name", None)
    try:
        lists: dict[str, list[dict[str, Any]]] = json.loads(named_recipe(name, document(given)))
    except (TypeError, ValueError):
        # The Loader refuses it, and says what is wrong.
        return {}
    return lists
