"""A run's state as a dictionary, fit for JSON and for `torch.save`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from forebay.errors import SettingsError

__all__ = ["pack", "unpack"]

_VERSION = 1
# Counts are unsigned numbers of 64 bits.
_LARGEST = 2**64 - 1


def pack(epoch: int, cursor: int, snapshot: bytes) -> dict[str, Any]:
    """The dictionary. Its `epoch` and `cursor` are for people to read."""
    encoded = base64.b64encode(snapshot).decode("ascii")
    return {"forebay": _VERSION, "epoch": epoch, "cursor": cursor, "snapshot": encoded}


def unpack(state: Any) -> tuple[int, int, bytes]:  # noqa: ANN401 - whatever the caller has
    """Epoch, cursor and snapshot of a dictionary that `pack` made.

    Raises:
        SettingsError: `state` is not such a dictionary, or it is damaged.
    """
    if not isinstance(state, Mapping):
        raise SettingsError(
            f"load_state_dict() takes the dictionary that Loader.state_dict() returned, but this is {state!r:.100}"
        )
    version = state.get("forebay")
    if version != _VERSION:
        raise SettingsError(f"Loader.state_dict() did not make this state: its version is {version!r:.100}")
    epoch, cursor = (_count(state, key) for key in ("epoch", "cursor"))
    try:
        return epoch, cursor, base64.b64decode(state["snapshot"], validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise SettingsError(f"the state's snapshot is damaged: {error!r}") from None


def _count(state: Mapping[str, Any], key: str) -> int:
    value = state.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise SettingsError(f"the state is damaged: its {key} is {value!r:.100}, which is not a count")
    return value
