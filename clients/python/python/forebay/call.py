"""What a caller gave, beside the defaults that a signature shows."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

from forebay.foreign import refuse_foreign

__all__ = ["remember_given"]

_Init = TypeVar("_Init", bound=Callable[..., None])


def remember_given(init: _Init) -> _Init:
    """Notes which settings the caller gave: a stream's settings must agree with those, and not with defaults."""

    @functools.wraps(init)
    def wrapper(self: Any, source: Any, **given: Any) -> None:  # noqa: ANN401 - checked by `init`
        refuse_foreign(given)
        self._given = given
        init(self, source, **given)

    return cast(_Init, wrapper)
