"""What happens to the last batch of an epoch that is not full."""

from __future__ import annotations

import enum

from forebay.errors import SettingsError

__all__ = ["LastBatchPolicy"]


class LastBatchPolicy(enum.Enum):
    """What happens if an epoch's last batch is not full, under DALI's names.

    Attributes:
        FILL: The batch is full: with repeated or, under `forebay.dali`, borrowed records.
        DROP: The batch is left out.
        PARTIAL: The batch is shorter.
    """

    FILL = 0
    DROP = 1
    PARTIAL = 2

    @classmethod
    def of(cls, given: object) -> LastBatchPolicy:
        """A policy from one of this enum, from one of DALI's, or from a name in any case.

        Raises:
            SettingsError: There is no such policy.
        """
        name = getattr(given, "name", given)
        found = cls.__members__.get(name.upper()) if isinstance(name, str) else None
        if found is None:
            raise SettingsError(f"last_batch_policy={given!r}: give LastBatchPolicy.FILL, DROP or PARTIAL")
        return found
