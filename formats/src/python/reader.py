"""Runs a user's reader for the daemon, in a child process (docs/decisions/0025)."""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import operator
import os
import struct
import sys
import traceback
from array import array
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, Union

from forebay_cells import Targets
from forebay_child import ERROR, Daemon, module_of

# ElasticDL's number of a task that trains.
TRAINING = 1
# What a reader has is anything; it is checked where it is used.
Reader = Any
Label = Union[int, str]
DEFAULT_NAMES = ("CustomDataReader", "custom_data_reader")
# The keys of a record that is a dict, unless the stream names others.
IMAGES, LABELS = ("images", "image"), ("labels", "label")
# The letter of an error that is the fault of what our own reader reads from.
OUTAGE = b"U"


def load(file: str) -> ModuleType:
    """Imports the reader's file. Its own folder is searched first, as for a script."""
    sys.path.insert(0, os.path.dirname(file))
    name = os.path.splitext(os.path.basename(file))[0]
    if name in sys.modules:
        name = "forebay_reader_" + name
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def make_reader(
    module: ModuleType, name: str, parameters: dict[str, Any], records_per_task: int, strict: bool
) -> Reader:
    """Calls the class, or the function that makes a reader. If `strict`, the file itself must define what is named."""
    names = [name] if name else DEFAULT_NAMES
    make = next((getattr(module, each) for each in names if hasattr(module, each)), None)
    if make is None:
        raise AttributeError(f"the file has no {' or '.join(names)}; name the reader's class with class=")
    if strict and name and getattr(make, "__module__", None) != module.__name__:
        raise PermissionError(f"{name} is not defined in the reader's file, so a service does not call it")
    try:
        kinds = inspect.signature(make).parameters
    except (TypeError, ValueError):
        kinds = {}
    if "records_per_task" in kinds or any(kind.kind is kind.VAR_KEYWORD for kind in kinds.values()):
        parameters = {"records_per_task": records_per_task, **parameters}
    return make(**parameters)


def shards_of(module: ModuleType, reader: Reader) -> list[tuple[str, int, int]]:
    """(name, start, count) of each shard."""
    if callable(getattr(reader, "create_shards", None)):
        shards = reader.create_shards()
        if isinstance(shards, dict):
            shards = [(name, *span) for name, span in shards.items()]
        return [(str(name), operator.index(start), operator.index(count)) for name, start, count in shards]
    if callable(getattr(module, "get_training_size", None)):
        return [("", 0, operator.index(module.get_training_size()))]
    raise AttributeError("the reader has no create_shards(), and its file has no get_training_size()")


def plain_label(label: Reader, as_text: bool) -> Label:
    """A label as an int or a str."""
    if isinstance(label, (bytes, bytearray)):
        label = label.decode()
    if not isinstance(label, str):
        try:
            label = operator.index(label)
        except TypeError:
            raise TypeError(f"a label must be int or str, and one is {type(label).__name__}") from None
    return str(label) if as_text else label


def number_of(name: str) -> float | None:
    """The finite number that a class is called; None if its name is none."""
    try:
        number = float(name)
    except ValueError:
        return None
    return number if math.isfinite(number) and name.isascii() and "_" not in name else None


def numbered(labels: Sequence[Label | None], as_text: bool) -> tuple[array[int], list[str]]:
    """Labels as integers, and the names of the classes. None, of a record that could not be read, is -1.

    Classes that are all numbers are in the order of these, unless texts were asked for.
    """
    given = [label for label in labels if label is not None]
    texts = sum(isinstance(label, str) for label in given)
    if texts not in (0, len(given)):
        raise TypeError("some labels are int and others str; give one type, or labels='text' to take all as text")
    classes = sorted(set(given)) if texts else []
    numbers = {name: number_of(name) for name in classes}
    if not as_text and None not in numbers.values():
        classes.sort(key=numbers.__getitem__)
    places = {name: place for place, name in enumerate(classes)}
    known = (label if isinstance(label, int) else places.get(label, -1) for label in labels)
    return array("q", known), classes


class Keys:
    """Says which keys of a dict record have the picture, the label, the masks and the further columns."""

    def __init__(self, columns: dict[str, list[str]] | None, masks: Sequence[list[str]] = ()) -> None:
        given = dict(columns or {})
        self.masks = masks
        self.images = given.pop("images", None) or IMAGES
        self.labels = given.pop("labels", None) or LABELS
        # None for all other keys.
        self.targets = given if columns else None

    def others(self, record: dict[Any, Any]) -> dict[str, Any]:
        """The values of further columns, by their names."""
        if self.targets is None:
            own = {*self.images, *self.labels, *(key for keys in self.masks for key in keys)}
            return {str(key): value for key, value in record.items() if key not in own}
        return {name: value_of(record, keys) for name, keys in self.targets.items()}


def value_of(record: dict[Any, Any], keys: Sequence[str]) -> Any:  # noqa: ANN401 - anything
    """The value of the first of these keys that the record has."""
    return next((record[key] for key in keys if key in record), None)


def parts(record: Reader, keys: Keys) -> tuple[memoryview, Reader, dict[str, Any]]:
    """The bytes of a record, its label if it has one, and its further values."""
    label, others, masks = None, {}, [None] * len(keys.masks)
    if isinstance(record, dict):
        image, label = value_of(record, keys.images), value_of(record, keys.labels)
        others = keys.others(record)
        masks = [value_of(record, names) for names in keys.masks]
    elif isinstance(record, (tuple, list)) and len(record) == 2:
        image, label = record
    else:
        image = record
    try:
        content = memoryview(image).cast("B")
    except TypeError:
        kind = type(image).__name__
        hint = "read_records() must yield bytes, (bytes, label), or a dict with images and labels"
        raise TypeError(f"{hint}; it yielded {kind}") from None
    return with_masks(content, masks) if masks else content, label, others


def with_masks(picture: memoryview, masks: Sequence[Any]) -> memoryview:
    """A picture, its masks, and the lengths of the masks. A missing mask has no bytes."""
    files = [b"" if mask is None else mask_file(mask) for mask in masks]
    if not picture:
        return picture
    return memoryview(b"".join([picture, *files, *(struct.pack("<Q", len(file)) for file in files)]))


def mask_file(mask: Any) -> bytes:  # noqa: ANN401 - bytes or an array
    """The bytes of a mask: those of a file, or an array with a whole number for each pixel as NumPy saves it."""
    if isinstance(mask, (bytes, bytearray, memoryview)):
        return bytes(mask)
    dtype = getattr(mask, "dtype", "")
    dtype = str(getattr(dtype, "name", dtype)).rpartition(".")[2]
    letters = {"bool": "|b1", "uint8": "|u1", "uint16": "<u2", "int8": "|i1", "int16": "<i2"}
    letters.update({"int32": "<i4", "int64": "<i8", "uint32": "<u4", "uint64": "<u8"})
    if dtype not in letters or not hasattr(mask, "shape"):
        found = f"an array of {dtype}" if dtype else type(mask).__name__
        raise TypeError(f"a mask must be the bytes of a PNG or an array of whole numbers, and one is {found}")
    # A tensor of PyTorch is an array of NumPy too, once it is in the host's memory.
    mask = mask.cpu() if hasattr(mask, "cpu") else mask
    array = mask.numpy() if hasattr(mask, "numpy") else mask
    shape = "".join(f"{side}, " for side in array.shape)
    order = f"{{'descr': '{letters[dtype]}', 'fortran_order': False, 'shape': ({shape}), }}"
    header = order.encode().ljust(117) + b"\n"
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def task_of(name: str, start: int, end: int) -> SimpleNamespace:
    """What ElasticDL gives read_records()."""
    shard = SimpleNamespace(name=name, start=start, end=end, indices=[])
    return SimpleNamespace(shard=shard, type=TRAINING, task_id=0, model_version=-1, extended_config={})


def records_of(reader: Reader, name: str, start: int, end: int) -> Iterator[Reader]:
    """The records of a task. A wrong number of records is an error: it is then unknown which record is which."""
    yielded, records = 0, reader.read_records(task_of(name, start, end))
    for record in () if records is None else records:
        if yielded == end - start:
            raise ValueError(f"read_records() yielded more than {end - start} records; stop at task.shard.end")
        yield record
        yielded += 1
    if yielded != end - start:
        raise ValueError(f"read_records() yielded {yielded} records of {end - start}")


class ReaderProgram:
    """Answers requests about one reader."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.module: ModuleType = sys
        self.reader: Reader = None
        self.settings: dict[str, Any] = {}
        self.keys = Keys(None)

    def begin(self, settings: dict[str, Any]) -> None:
        """Makes the reader."""
        self.settings = settings
        self.keys = Keys(settings["columns"], settings["masks"])
        code, per_task = settings.get("code"), settings["records_per_task"]
        self.module = module_of("forebay_reader", code) if code else load(settings["file"])
        self.reader = make_reader(self.module, settings["class"], settings["parameters"], per_task, settings["strict"])

    def describe(self, scan: bool) -> None:
        """Sends what the dataset has: shards, labels, columns, and a version if the reader has one."""
        shards = shards_of(self.module, self.reader)
        version = self.reader.version() if callable(getattr(self.reader, "version", None)) else ""
        labels, targets = self.given_labels(), None
        if callable(getattr(self.reader, "columns", None)):
            self.give_columns(sum(count for _, _, count in shards))
        elif scan:
            targets = Targets(self.keys.targets, self.types())
        elif self.keys.targets:
            raise ValueError("columns need a method columns() of the reader that gives their values, or scan=true")
        needs_labels = scan and labels is None and self.settings["labels"] != "none"
        if needs_labels or targets is not None:
            found = self.scan(shards, needs_labels, targets)
            labels = found if needs_labels else labels
        integers, classes = (None, []) if labels is None else numbered(labels, self.settings["labels"] == "text")
        about = {"shards": shards, "version": str(version), "classes": classes, "labelled": labels is not None}
        self.daemon.send(b"S", json.dumps(about).encode())
        if integers is not None:
            if sys.byteorder == "big":
                integers.byteswap()
            self.daemon.send(b"I", integers.tobytes())

    def given_labels(self) -> list[Label | None] | None:
        """What the method labels() gives, if the reader has one."""
        if self.settings["labels"] == "none" or not callable(getattr(self.reader, "labels", None)):
            return None
        return [self.label(label) for label in self.reader.labels()]

    def types(self) -> dict[str, str]:
        """The types of columns that the reader declares."""
        return dict(self.reader.column_types()) if callable(getattr(self.reader, "column_types", None)) else {}

    def give_columns(self, records: int) -> None:
        """Sends the columns that the reader gives as a whole."""
        given = self.reader.columns()
        wanted = self.keys.targets or {str(name): [name] for name in given}
        for keys in wanted.values():
            if not any(key in given for key in keys):
                raise ValueError(f"columns() gives no {' or '.join(keys)!r}; it gives {', '.join(map(str, given))}")
        targets = Targets(wanted, self.types())
        for name, keys in wanted.items():
            count = 0
            for value in value_of(given, keys):
                count += 1
                targets.all[name].push(value)
                self.pass_on(targets.frames())
            if count != records:
                raise ValueError(f"columns() gives {count} values of {name!r}, and there are {records} records")
        self.pass_on(targets.finish())

    def pass_on(self, frames: Iterator[tuple[bytes, bytes]]) -> None:
        """Sends frames that are ready."""
        for kind, body in frames:
            self.daemon.send(kind, body)
            self.daemon.flush()

    def scan(
        self,
        shards: list[tuple[str, int, int]],
        labelled: bool,
        targets: Any,  # noqa: ANN401
    ) -> list[Label | None] | None:
        """Reads all records for their labels and columns. A record that cannot be read has none.

        Returns:
            The labels. None if no record has one.
        """
        labels: list[Label | None] = []
        unlabelled = damaged = 0
        step = self.settings["records_per_task"]
        for name, first, count in shards:
            for start in range(first, first + count, step):
                for found in self.scanned(name, start, min(start + step, first + count), labelled):
                    label, others = found or (None, {})
                    labels.append(label)
                    damaged += found is None
                    unlabelled += found is not None and label is None
                    if targets is not None:
                        targets.push(others)
                if targets is not None:
                    self.pass_on(targets.frames())
                self.daemon.send(b"P")
                self.daemon.flush()
        if targets is not None:
            self.pass_on(targets.finish())
            for name, reason in targets.left_out.items():
                print(f"{name!r} is no column: {reason}")
        if unlabelled and unlabelled + damaged == len(labels):
            return None
        if labelled and unlabelled:
            print(f"records without a label, although others have one: {unlabelled}. Theirs is -1")
        return labels

    def scanned(
        self, name: str, start: int, end: int, labelled: bool
    ) -> list[tuple[Label | None, dict[str, Any]] | None]:
        """The labels and values of a task's records, and None for each that cannot be read.

        If the task fails, its records are read one by one.
        """
        try:
            return [self.what_has(record, labelled) for record in records_of(self.reader, name, start, end)]
        except Exception:
            if end - start > 1:
                return [found for each in range(start, end) for found in self.scanned(name, each, each + 1, labelled)]
            traceback.print_exc()
            return [None]

    def what_has(self, record: Reader, labelled: bool) -> tuple[Label | None, dict[str, Any]]:
        """The label, if it has one that is wanted, and the values of further columns."""
        _, label, others = parts(record, self.keys)
        return (self.label(label) if labelled and label is not None else None), others

    def label(self, label: Reader) -> Label:
        """A label as the stream has it."""
        return plain_label(label, self.settings["labels"] == "text")

    def read(self, name: str, start: int, end: int) -> None:
        """Sends the records of a task."""
        for record in records_of(self.reader, name, start, end):
            content, label, others = parts(record, self.keys)
            if label is not None and self.settings["labels"] != "none":
                self.daemon.send(b"L", json.dumps(self.label(label)).encode())
            if others:
                self.daemon.send(b"O", json.dumps(list(others)[:16]).encode())
            if len(content) > self.settings["byte_limit"]:
                self.daemon.send(b"B", struct.pack("<Q", len(content)))
                self.daemon.flush()
            else:
                self.daemon.give(content)

    def failed(self, error: BaseException, request: dict[str, Any]) -> bytes:
        """The letter of an exception. It is printed, unless the records of its task are read one by one now."""
        if request.get("start") is None or request["end"] - request["start"] == 1:
            traceback.print_exception(type(error), error, error.__traceback__)
        # An exception of our own reader says so if what it reads from is to blame, and no record.
        is_outage = bool(self.settings.get("code")) and getattr(error, "is_outage", False)
        return OUTAGE if is_outage else ERROR


def program(daemon: Daemon) -> ReaderProgram:
    """What answers the daemon's requests."""
    return ReaderProgram(daemon)
