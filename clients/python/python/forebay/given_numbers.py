"""Numbers that calls are given, checked: the epoch of a `set_epoch()`, and the seconds of a wait."""

from __future__ import annotations

import operator
from typing import Any

from forebay.errors import SettingsError

__all__ = ["epoch_number", "seconds_of"]

# The ledger counts epochs to here.
_LAST_EPOCH = 2**63 - 1


def epoch_number(epoch: Any) -> int:  # noqa: ANN401 - whatever the caller gave
    """The epoch as an int.

    Raises:
        SettingsError: It is no integer, is negative, or is too large.
    """
    try:
        number = operator.index(epoch)
    except TypeError:
        raise SettingsError(f"epoch={epoch!r}: give an integer, 0 or more") from None
    if not 0 <= number <= _LAST_EPOCH:
        raise SettingsError(f"epoch={number}: give 0 or more, up to 2**63 - 1")
    return number


def seconds_of(timeout: Any) -> float | None:  # noqa: ANN401 - whatever the caller gave
    """The seconds as a float; None is a wait without end.

    Raises:
        SettingsError: It is no number. What is negative or NaN is left to the wait itself.
    """
    if timeout is None:
        return None
    try:
        if isinstance(timeout, (str, bytes, bytearray)):
            raise TypeError
        return float(timeout)
    except (TypeError, ValueError):
        raise SettingsError(f"timeout={timeout!r}: give seconds as a number, or None to wait without end") from None
    except OverflowError:
        # So many seconds are without end.
        return None if timeout > 0 else -1.0
