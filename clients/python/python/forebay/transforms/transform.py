"""What all steps have in common: a step is a table of the daemon's configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["Transform"]

_PACKAGE = __name__.rpartition(".")[0] + "."


class Transform:
    """One step. A `transform` list in the daemon's configuration has the same steps as tables."""

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """The step as a table with one key, which is the class's name in snake case.

        A subclass of a step, such as of `Resize`, gives the table of that step. The daemon knows no others.

        Raises:
            NotImplementedError: This is no such step, and its class does not override `to_settings()`.
        """
        classes = (cls for cls in type(self).__mro__ if cls.__module__.startswith(_PACKAGE) and is_dataclass(cls))
        step = next(classes, None)
        if step is None:
            raise NotImplementedError(
                f"{type(self).__name__} is not a step that the daemon knows. Use one of forebay.transforms, such as "
                "Resize, or override to_settings()"
            )
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", step.__name__).lower()
        values = {field.name: _plain(getattr(self, field.name)) for field in fields(step)}
        return {name: {key: value for key, value in values.items() if value is not None}}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field's
    """Steps as tables, and sequences as JSON has them."""
    if isinstance(value, Transform):
        return value.to_settings()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [_plain(item) for item in value]
    return value
