"""Columns whose places differ in length, such as boxes, captions and polygons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Lists", "Ragged"]

A = TypeVar("A")


class Lists(Generic[A]):
    """A column with a list for each place, with arrays of any framework. `Ragged` has those of numpy.

    What `Ragged` says holds here too. Frameworks differ in what `values` and `offsets` are, and in nothing else.

    Attributes:
        values: The rows of all lists, one after the other: `(rows, ...)`.
        offsets: For each level, `(lists + 1,)` of integers, beginning with 0.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: A, offsets: tuple[A, ...]) -> None:
        # Keeps only the lists of the next level, or the rows, that belong to these lists.
        cut: list[Any] = []
        inner: list[Any] = list(offsets)
        rows: Any = values
        while inner:
            level = inner.pop(0)
            first, last = int(level[0]), int(level[-1])
            cut.append(level - first if first else level)
            if inner:
                inner[0] = inner[0][first : last + 1]
            elif (first, last) != (0, len(rows)):
                rows = rows[first:last]
        self.values: A = rows
        self.offsets: tuple[A, ...] = tuple(cut)

    @classmethod
    def _whole(cls, values: A, offsets: tuple[A, ...]) -> Self:
        """A column of what is whole already. Nothing is looked at, so that copies to a device are not waited for."""
        column = cls.__new__(cls)
        column.values, column.offsets = values, offsets
        return column

    @property
    def lengths(self) -> A:
        """The number of items of each place, which are rows or lists of the next level: `(n,)` of integers."""
        outer: Any = self.offsets[0]
        lengths: A = outer[1:] - outer[:-1]
        return lengths

    def text(self) -> list[Any]:
        """The lists as `str`. The values must be bytes of UTF-8. Bytes that are not UTF-8 become U+FFFD.

        Raises:
            TypeError: The values are not bytes.
        """
        return Ragged(self._numpy(self.values), tuple(map(self._numpy, self.offsets))).text()

    def tolist(self) -> list[Any]:
        """The values as nested lists of Python's numbers."""
        return [item.tolist() for item in self]

    @staticmethod
    def _numpy(array: Any) -> np.ndarray:  # noqa: ANN401 - of a framework
        return np.asarray(array)

    def __len__(self) -> int:
        return len(self.offsets[0]) - 1  # type: ignore[arg-type] - an array

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int | slice) -> Any:  # noqa: ANN401 - an array, or the next level
        parts: tuple[Any, ...] = self.offsets
        outer, *inner = parts
        values: Any = self.values
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise IndexError("a ragged column has slices of neighbours only: give no step")
            return type(self)(values, (outer[start : max(start, stop) + 1], *inner))
        if not -len(self) <= place < len(self):
            raise IndexError(f"place {place} of {len(self)}")
        place %= len(self)
        first, last = int(outer[place]), int(outer[place + 1])
        if not inner:
            return values[first:last]
        return type(self)(values, (inner[0][first : last + 1], *inner[1:]))

    def __repr__(self) -> str:
        values: Any = self.values
        rows = ", ".join(map(str, values.shape[1:]))
        levels = "[*]" * (len(self.offsets) - 1) + (f"[*, {rows}]" if rows else "[*]")
        kind = type(self)
        name = f"{kind.__module__.removesuffix('.ragged').removesuffix('.batch')}.{kind.__name__}"
        return f"<{name} {str(values.dtype).rpartition('.')[2]} {levels}, {len(self)} places>"


class Ragged(Lists[np.ndarray]):
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

    __slots__ = ()

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

    def copy(self) -> Ragged:
        """A copy with its own arrays."""
        return Ragged(self.values.copy(), tuple(level.copy() for level in self.offsets))
