"""What functions of users get beside a picture and return, in the form in which the daemon sends and takes it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

# What numpy calls the types of values. It has no bfloat16: its values are their bits.
TYPES = {"u8": "u1", "i8": "i1", "bool": "?", "bf16": "<u2", "f16": "<f2", "f32": "<f4", "f64": "<f8"}
TYPES |= {f"{sign}{8 * size}": f"<{sign}{size}" for sign in "iu" for size in (2, 4, 8)}


class WrongResultError(Exception):
    """A function has returned something that is no picture, or one of another size."""


class ColumnForm:
    """A column of the stream: its name and type, and whether its numbers are places in the picture."""

    def __init__(self, np: Any, form: dict[str, Any]) -> None:  # noqa: ANN401 - the module numpy
        self.np, self.name, self.is_place = np, form["name"], form["is_place"]
        self.depth, self.dims = form["depth"], tuple(form["dims"])
        self.dtype = np.dtype(TYPES[form["element"]])

    def read(self, sent: list[Any] | None) -> Any:  # noqa: ANN401 - an array, or lists of them
        """The value of a record: an array, or lists of arrays for lists in lists. None if it is missing."""
        if sent is None:
            return None
        values, *ends = sent
        rows = self.np.frombuffer(bytearray.fromhex(values), self.dtype).reshape(-1, *self.dims)
        if self.depth == 0:
            return rows[0]
        for level in reversed(ends):
            rows = [rows[start:end] for start, end in zip(level, level[1:])]
        return rows

    def write(self, value: Any) -> list[Any] | None:  # noqa: ANN401 - whatever a function has returned
        """A value as it is sent."""
        if value is None:
            return None
        if self.depth == 0:
            return [self.rows(value, self.dims).tobytes().hex()]
        ends, parts = [], [value]
        for _level in range(1, self.depth):
            lists = [list(part) for part in parts]
            ends.append([0, *accumulate(map(len, lists))])
            parts = [part for each in lists for part in each]
        rows = [self.rows(part, (-1, *self.dims)) for part in parts]
        ends.append([0, *accumulate(map(len, rows))])
        return [b"".join(each.tobytes() for each in rows).hex(), *ends[1:]]

    def rows(self, value: Any, shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - an array
        """Rows as an array of this shape, whose first length may be anything if it is -1."""
        is_text = isinstance(value, str) and self.dtype == self.np.uint8
        array = self.np.frombuffer(value.encode(), self.np.uint8) if is_text else self.np.asarray(value)
        if array.size == 0 and shape[:1] == (-1,):
            return self.np.zeros((0, *self.dims), self.dtype)
        fits = array.ndim == len(shape) and all(own in (each, -1) for own, each in zip(shape, array.shape))
        if not fits or not self.np.can_cast(array.dtype, self.dtype, "same_kind"):
            raise WrongResultError(
                f"its column {self.name!r} is {array.dtype} {list(array.shape)}, but must be {self.dtype} {list(shape)}"
            )
        return array.astype(self.dtype)


class Sample:
    """Which picture a function gets, and what the dataset has beside it.

    Attributes:
        record: The number of the record in the dataset.
        epoch: The epoch, from 0.
        view: The name of the view: "images", or that of a further one.
        repeat: How many times the epoch has had the record before, if it has records more than once.
        seed: 128 random bits of this call. They depend on the stream's seed, the epoch, the record, its repeat and the
            place of the step in the list alone.
        label: The label of the record, or what a function before has returned for it. -1 without.
    """

    __slots__ = ("_columns", "_forms", "_masks", "_rng", "_sent", "epoch", "label", "record", "repeat", "seed", "view")

    def __init__(self, call: dict[str, Any], forms: list[ColumnForm], masks: Callable[[], dict[str, Any]]) -> None:
        self.record, self.epoch, self.view, self.repeat = call["sample"]
        self.seed, self.label = int(call["seed"], 16), call["label"]
        self._forms, self._sent, self._masks = forms, call["columns"], masks
        self._columns: dict[str, Any] | None = None
        self._rng: Any = None

    @property
    def columns(self) -> dict[str, Any]:
        """What the record has in each column of the stream: boxes, points and masks as they are in the picture here.

        A change of these arrays has no effect: a function returns what it changes.
        """
        if self._columns is None:
            columns = {form.name: form.read(sent) for form, sent in zip(self._forms, self._sent)}
            self._columns = columns | self._masks()
        return self._columns

    @property
    def targets(self) -> dict[str, Any]:
        """The columns whose numbers are places in the picture: boxes and points."""
        return {form.name: self.columns[form.name] for form in self._forms if form.is_place}

    def rng(self) -> Any:  # noqa: ANN401 - numpy is imported later
        """The `numpy.random.Generator` of this call. It is made when it is asked for."""
        if self._rng is None:
            from numpy.random import PCG64, Generator

            self._rng = Generator(PCG64(self.seed))
        return self._rng

    def __repr__(self) -> str:
        return f"Sample(record={self.record}, epoch={self.epoch}, view={self.view!r}, repeat={self.repeat})"


def in_form(np: Any, values: Any, dtype: str, layout: str) -> Any:  # noqa: ANN401 - the module numpy and arrays
    """Floats as a batch has them. numpy has no bfloat16: its values are their bits, rounded to nearest."""
    values = values.transpose(2, 0, 1) if layout == "NCHW" else values
    if dtype != "bfloat16":
        return values.astype(dtype)
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)
