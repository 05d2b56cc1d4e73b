"""Columns whose places differ in length, such as boxes, captions and polygons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["Ragged"]


class Ragged:
    """A column with a list for each place. The items of a list are rows, or further lists. The layout is Arrow's.

    All rows are in one array. List `i` has the items from offset `i` up to, but not including, offset `i + 1`. Indexing
    copies nothing.

    Attributes:
        values: The rows of all lists, one after the other: `(rows, ...)`.
        offsets: For each level, `(lists + 1,)` of int64, beginning with 0. The offsets of the last level count rows.
            The offsets of other levels count the lists of the next level.

    Example:
        >>> boxes = Ragged(np.arange(12).reshape(3, 4), (np.array([0, 2, 2, 3]),))
        >>> boxes[0].shape, len(boxes[1]), boxes.lengths.tolist()
        ((2, 4), 0, [2, 0, 1])
        >>> captions = Ragged(np.frombuffer(b"catdog", np.uint8), (np.array([0, 3, 6]),))
        >>> captions.text()
        ['cat', 'dog']
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: np.ndarray, offsets: tuple[np.ndarray, ...]) -> None:
        # Keeps only the lists of the next level, or the rows, that belong to these lists.
        cut, inner = [], list(offsets)
        while inner:
            level = inner.pop(0)
            first, last = int(level[0]), int(level[-1])
            cut.append(level - first if first else level)
            if inner:
                inner[0] = inner[0][first : last + 1]
            else:
                values = values[first:last]
        self.values: np.ndarray = values
        self.offsets: tuple[np.ndarray, ...] = tuple(cut)

    @property
    def lengths(self) -> np.ndarray:
        """The number of items of each place, which are rows or lists of the next level: `(n,)` of int64."""
        return np.diff(self.offsets[0])

    def text(self) -> list[Any]:
        """The lists as `str`. The values must be bytes of UTF-8. Bytes that are not UTF-8 become U+FFFD.

        Raises:
            TypeError: The values are not bytes.
        """
        if self.values.dtype != np.uint8 or self.values.ndim != 1:
            raise TypeError(f"text() needs values of type uint8 without further dimensions, not {self.values.dtype}")
        if len(self.offsets) > 1:
            return [inner.text() for inner in self]
        return [rows.tobytes().decode(errors="replace") for rows in self]

    def tolist(self) -> list[Any]:
        """The values as nested lists of Python's numbers."""
        return [item.tolist() for item in self]

    def copy(self) -> Ragged:
        """A copy with its own arrays."""
        return Ragged(self.values.copy(), tuple(level.copy() for level in self.offsets))

    def __len__(self) -> int:
        return len(self.offsets[0]) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int | slice) -> Any:  # noqa: ANN401 - an array, or the next level
        outer, *inner = self.offsets
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise IndexError("a ragged column has slices of neighbours only: give no step")
            return Ragged(self.values, (outer[start : max(start, stop) + 1], *inner))
        if not -len(self) <= place < len(self):
            raise IndexError(f"place {place} of {len(self)}")
        place %= len(self)
        first, last = int(outer[place]), int(outer[place + 1])
        if not inner:
            return self.values[first:last]
        return Ragged(self.values, (inner[0][first : last + 1], *inner[1:]))

    def __repr__(self) -> str:
        rows = ", ".join(map(str, self.values.shape[1:]))
        levels = "[*]" * (len(self.offsets) - 1) + (f"[*, {rows}]" if rows else "[*]")
        return f"<forebay.Ragged {self.values.dtype} {levels}, {len(self)} places>"
