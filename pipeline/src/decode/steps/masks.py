"""The masks of a picture, as functions of users get and return them.

They are in the arena behind the pixels, one after the other: rows of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forebay_sample import TYPES, WrongResultError


class MaskArena:
    """Where the masks of a picture are in the arena."""

    def __init__(self, np: Any, arena: Any, masks: dict[str, Any], room: int) -> None:  # noqa: ANN401 - as in BatchArena
        self.np, self.arena, self.room, self.first = np, arena, room, masks["at"]
        self.dtypes = {form["name"]: np.dtype(TYPES[form["element"]]) for form in masks["forms"]}

    def each(self, place: int, size: tuple[int, int]) -> Iterator[tuple[str, Any]]:
        """Each mask of a picture of this height and width, by its name."""
        (height, width), at = size, place * self.room + self.first
        for name, dtype in self.dtypes.items():
            yield name, self.np.frombuffer(self.arena, dtype, height * width, at).reshape(height, width)
            at += height * width * dtype.itemsize

    def read(self, place: int, size: tuple[int, int], are_there: list[bool]) -> dict[str, Any]:
        """What a function gets: None for a mask that the record does not have."""
        masks = zip(self.each(place, size), are_there)
        return {name: mask.copy() if is_there else None for (name, mask), is_there in masks}

    def write(self, place: int, size: tuple[int, int], name: str, value: Any) -> bool:  # noqa: ANN401 - what it returned
        """Puts a mask that a function has returned into the arena. False if that is None."""
        if value is None:
            return False
        array, target = self.np.asarray(value), dict(self.each(place, size))[name]
        # A wider type may have numbers that do not fit.
        if array.shape != target.shape or not self.np.can_cast(array.dtype, target.dtype, "safe"):
            raise WrongResultError(
                f"its mask {name!r} is {array.dtype} {list(array.shape)}, but must be {target.dtype} "
                f"{list(target.shape)}"
            )
        target[...] = array
        return True
