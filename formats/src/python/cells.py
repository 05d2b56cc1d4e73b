"""Encodes further columns for the daemon: the type of each column, and the bytes of each record's value."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

# The daemon's names of types, with the letters of `struct`, and what numpy and PyTorch call them.
LETTERS = {
    "bool": "?",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "f16": "e",
    "f32": "f",
    "f64": "d",
}
OF_ARRAYS = {"bool": "bool", "bool_": "bool"}
OF_ARRAYS.update({f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)})
FORM = re.compile(
    r"(?P<element>[a-z]+\d*)(?: (?P<levels>(?:\[\*\])*)(?:\[(?P<ragged>\*, )?(?P<dims>\d+(?:, \d+)*)\])?)?"
)
VALUE, NULL, WRONG = b"\0", b"\1", b"\2"
# How many bytes of cells are sent at once.
CHUNK = 1 << 20
# A value of any type. Its type is checked later.
Cell = Any


class CellType(NamedTuple):
    """The type of a column: ragged levels around rows with fixed dimensions."""

    element: str
    depth: int = 0
    dims: tuple[int, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.dims))
        if not self.depth:
            return f"{self.element} [{inner}]" if inner else self.element
        return f"{self.element} {'[*]' * (self.depth - 1)}[{', '.join(filter(None, ['*', inner]))}]"

    @classmethod
    def parse(cls, text: str) -> CellType:
        """Reads a type such as `f32 [*, 4]`."""
        form = FORM.fullmatch(text)
        if form is None or form["element"] not in LETTERS:
            raise ValueError(f"{text!r} is not the type of a column; examples are 'i64', 'f32 [5]' and 'f32 [*, 4]'")
        dims = tuple(map(int, form["dims"].split(", "))) if form["dims"] else ()
        return cls(form["element"], len(form["levels"] or "") // 3 + bool(form["ragged"]), dims)


def is_array(value: Cell) -> bool:
    """Whether it is an array or a scalar of numpy, PyTorch and the like."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "tolist")


def type_of(value: Cell) -> CellType | None:
    """The type that a column with this value has. None if the value does not determine it.

    Raises:
        TypeError: No column has such values.
    """
    if value is None:
        return None
    if is_array(value):
        name = str(value.dtype).rpartition(".")[2]
        if name not in OF_ARRAYS:
            raise TypeError(f"it is an array of {name}, which no column has")
        shape = tuple(value.shape)
        return CellType(OF_ARRAYS[name], min(len(shape), 1), shape[1:])
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return CellType("u8", 1)
    for kind, element in ((bool, "bool"), (int, "i64"), (float, "f64")):
        if isinstance(value, kind):
            return CellType(element)
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"it is {type(value).__name__}; give a number, a text, or a list or array of these")
    known = None
    for item in value:
        of_item = type_of(item)
        if of_item is not None:
            known = of_item if known is None else wider(known, of_item)
    if known is None:
        return None
    if known.dims:
        raise TypeError("it is a list of arrays with several dimensions; give one array")
    return known._replace(depth=known.depth + 1)


def wider(one: CellType, other: CellType) -> CellType:
    """The type of the items of a list that has items of both types."""
    if one == other:
        return one
    numbers = ("bool", "i64", "f64")
    if one[1:] != other[1:] or one.element not in numbers or other.element not in numbers:
        raise TypeError(f"it is a list of {one} and {other}")
    return one._replace(element=max(one.element, other.element, key=numbers.index))


def encode(value: Cell, column: CellType) -> bytes:
    """Encodes a record's value: a flag for a missing value, the lengths of its lists level by level, and its numbers.

    Raises:
        TypeError: It does not fit into a column of this type. The text names both types.
    """
    if value is None:
        return NULL
    counts: list[list[int]] = [[] for _ in range(column.depth)]
    if is_array(value) and type_of(value) == column and hasattr(value, "tobytes"):
        counts = [[len(value)]] if column.depth else []
        data = value.astype(value.dtype.newbyteorder("<")).tobytes()
    else:
        numbers: list[Cell] = []
        try:
            collect(value, column, 0, counts, numbers)
            data = struct.pack(f"<{len(numbers)}{LETTERS[column.element]}", *numbers)
        except (TypeError, struct.error, OverflowError):
            raise TypeError(misfit(value, column)) from None
    lengths = [count for level in counts for count in level]
    return VALUE + struct.pack(f"<{len(lengths)}I", *lengths) + data


def misfit(value: Cell, column: CellType) -> str:
    """Says why a value does not fit into a column."""
    try:
        found = type_of(value)
    except TypeError as error:
        return f"{error}, and the column is {column}"
    if found == column:
        return f"a number in it does not fit into the column's type {column}"
    return f"it is {found or 'an empty list'}, and the column is {column}"


def collect(value: Cell, column: CellType, level: int, counts: list[list[int]], numbers: list[Cell]) -> None:
    """Adds the lengths and the numbers of a value, starting at this level."""
    if is_array(value):
        value = value.tolist()
    if level == column.depth:
        row(value, column, column.dims, numbers)
        return
    if isinstance(value, str):
        value = value.encode()
    is_bytes = isinstance(value, (bytes, bytearray, memoryview))
    if is_bytes and (column.element != "u8" or level + 1 != column.depth or column.dims):
        raise TypeError
    if not is_bytes and not isinstance(value, (list, tuple)):
        raise TypeError
    counts[level].append(len(value))
    if is_bytes:
        numbers.extend(value)
        return
    for item in value:
        collect(item, column, level + 1, counts, numbers)


def row(value: Cell, column: CellType, dims: tuple[int, ...], numbers: list[Cell]) -> None:
    """Adds the numbers of a row with these dimensions."""
    if is_array(value):
        value = value.tolist()
    if not dims:
        # In Python, a bool is a number. Here, a number is not a bool.
        if column.element == "bool" and not isinstance(value, bool):
            raise TypeError
        numbers.append(value)
        return
    if not isinstance(value, (list, tuple)) or len(value) != dims[0]:
        raise TypeError
    for item in value:
        row(item, column, dims[1:], numbers)


class Target:
    """The values of one column, record by record. Chunks of them are ready to be sent."""

    def __init__(self, name: str, declared: str | None = None, missing: int = 0) -> None:
        self.name = name
        self.type = None if declared is None else CellType.parse(declared)
        # Values that do not determine the type. An empty list is different from None.
        self.pending: list[Cell] = [None] * missing
        self.chunk = bytearray()

    def push(self, value: Cell) -> None:
        """Adds the value of the next record. If it does not fit, the reason is sent instead."""
        try:
            found = type_of(value) if self.type is None else None
        except TypeError as error:
            self.refuse(str(error))
            return
        if self.type is None and found is None:
            self.pending.append(value)
            return
        if self.type is None:
            self.type = found
        self.flush()
        self.add(value)

    def flush(self) -> None:
        """Adds the values that arrived before the type was known."""
        pending, self.pending = self.pending, []
        for value in pending:
            self.add(value)

    def add(self, value: Cell) -> None:
        """Adds a value to the chunk, now that the type is known."""
        assert self.type is not None
        try:
            self.chunk += value.cell if isinstance(value, Refused) else encode(value, self.type)
        except TypeError as error:
            self.refuse(str(error))

    def refuse(self, words: str) -> None:
        """Adds the reason why a record's value was refused."""
        refused = Refused(words)
        if self.type is None:
            self.pending.append(refused)
        else:
            self.chunk += refused.cell


class Refused(NamedTuple):
    """The reason why a value was refused."""

    words: str

    @property
    def cell(self) -> bytes:
        """The reason, encoded for the daemon."""
        text = self.words.encode(errors="replace")[:4096]
        return WRONG + struct.pack("<I", len(text)) + text


class Targets:
    """The further columns of consecutive records."""

    def __init__(self, wanted: Iterable[str] | None, types: dict[str, str]) -> None:
        # Without wanted names, every key that can be a column becomes one.
        self.only_wanted = wanted is not None
        self.types = types
        self.all = {name: Target(name, types.get(name)) for name in wanted or ()}
        self.left_out: dict[str, str] = {}
        self.records = 0
        self.announced: set[str] = set()

    def push(self, values: dict[str, Cell]) -> None:
        """Adds the values of the next record."""
        for name, value in values.items():
            if name not in self.all and name not in self.left_out and not self.only_wanted:
                self.begin(name, value)
        for name, target in self.all.items():
            target.push(values.get(name))
        self.records += 1

    def begin(self, name: str, value: Cell) -> None:
        """Makes a column of a further key of a record, unless a column cannot have its values."""
        try:
            type_of(value)
        except TypeError as error:
            self.left_out[name] = str(error)
        else:
            self.all[name] = Target(name, self.types.get(name), missing=self.records)

    def frames(self, least: int = CHUNK) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are ready to be sent: types of columns, and chunks of at least `least` bytes."""
        for number, target in enumerate(self.all.values()):
            if target.type is None or len(target.chunk) < least:
                continue
            if target.name not in self.announced:
                target.flush()
                self.announced.add(target.name)
                yield b"T", json.dumps([number, target.name, str(target.type)]).encode()
            yield b"V", struct.pack("<I", number) + target.chunk
            target.chunk = bytearray()

    def finish(self) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are left.

        Raises:
            ValueError: A column was asked for by name, and no record has a value in it.
        """
        for target in self.all.values():
            if target.type is not None:
                continue
            self.left_out[target.name] = (
                "no record has a value that says its type; say it in column_types(), as in "
                f'{{"{target.name}": "f32 [*, 4]"}}'
            )
            if self.only_wanted:
                wrong = next((value.words for value in target.pending if isinstance(value, Refused)), None)
                raise ValueError(f"the column {target.name!r} cannot be: {wrong or self.left_out[target.name]}")
        yield from self.frames(least=0)
