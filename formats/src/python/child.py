"""Runs a user's reader for the daemon, in a process of its own. docs/decisions/0025 says how the two talk.

Requests are lines of JSON. Answers are frames: a letter, a length of 8 bytes, and so many bytes.
"""

from __future__ import annotations

import sys

# `python -c` looks for modules in the working folder first, where anybody may have put them.
sys.path[:] = [entry for entry in sys.path if entry]

import fcntl  # noqa: E402
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import operator  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import struct  # noqa: E402
import traceback  # noqa: E402
from array import array  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from types import ModuleType, SimpleNamespace  # noqa: E402
from typing import Any, Union  # noqa: E402

# ElasticDL's number of a task that trains.
TRAINING = 1
# What a reader has is anything; it is checked where it is used.
Reader = Any
Label = Union[int, str]
DEFAULT_NAMES = ("CustomDataReader", "custom_data_reader")


def end_with_the_daemon(life: int) -> None:
    """The kernel ends this process and its children when the daemon closes its end, whatever they are doing."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life], [], [], 0)[0]:
        os._exit(1)


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


def make_reader(module: ModuleType, name: str, parameters: dict[str, Any], records_per_task: int) -> Reader:
    """Calls the class, or the function that makes a reader."""
    names = [name] if name else DEFAULT_NAMES
    make = next((getattr(module, each) for each in names if hasattr(module, each)), None)
    if make is None:
        raise AttributeError(f"the file has no {' or '.join(names)}; name the reader's class with class=")
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


def numbered(labels: Sequence[Label | None]) -> tuple[array[int], list[str]]:
    """Labels as integers, and the names of the classes. None, of a record that could not be read, is -1."""
    given = [label for label in labels if label is not None]
    texts = sum(isinstance(label, str) for label in given)
    if texts not in (0, len(given)):
        raise TypeError("some labels are int and others str; give one type, or labels='text' to take all as text")
    classes = sorted(set(given)) if texts else []
    places = {name: place for place, name in enumerate(classes)}
    known = (label if isinstance(label, int) else places.get(label, -1) for label in labels)
    return array("q", known), classes


def parts(record: Reader) -> tuple[memoryview, Reader, list[str]]:
    """The bytes of a record, its label if it has one, and what else it has."""
    label, others = None, []
    if isinstance(record, dict):
        image = record.get("images", record.get("image"))
        label = record.get("labels", record.get("label"))
        others = [str(key) for key in record if key not in ("images", "image", "labels", "label")]
    elif isinstance(record, (tuple, list)) and len(record) == 2:
        image, label = record
    else:
        image = record
    try:
        return memoryview(image).cast("B"), label, others
    except TypeError:
        kind = type(image).__name__
        hint = "read_records() must yield bytes, (bytes, label), or a dict with images and labels"
        raise TypeError(f"{hint}; it yielded {kind}") from None


def task_of(name: str, start: int, end: int) -> SimpleNamespace:
    """What ElasticDL gives read_records()."""
    shard = SimpleNamespace(name=name, start=start, end=end, indices=[])
    return SimpleNamespace(shard=shard, type=TRAINING, task_id=0, model_version=-1, extended_config={})


def records_of(reader: Reader, name: str, start: int, end: int) -> Iterator[Reader]:
    """The records of a task. Another number than promised is an error: nobody knows then which record is which."""
    yielded, records = 0, reader.read_records(task_of(name, start, end))
    for record in () if records is None else records:
        if yielded == end - start:
            raise ValueError(f"read_records() yielded more than {end - start} records; stop at task.shard.end")
        yield record
        yielded += 1
    if yielded != end - start:
        raise ValueError(f"read_records() yielded {yielded} records of {end - start}")


class Child:
    """Answers requests until there are no more."""

    def __init__(self, channel: int) -> None:
        self.requests = open(channel, "rb", closefd=False)  # noqa: SIM115 - as long as the process
        self.answers = open(channel, "wb", closefd=False)  # noqa: SIM115
        self.module: ModuleType = sys
        self.reader: Reader = None
        self.settings: dict[str, Any] = {}

    def send(self, kind: bytes, *bodies: bytes | memoryview) -> None:
        """Sends a frame."""
        self.answers.write(struct.pack("<cQ", kind, sum(len(body) for body in bodies)))
        for body in bodies:
            self.answers.write(body)

    def begin(self, settings: dict[str, Any]) -> None:
        """Makes the reader."""
        self.settings = settings
        self.module = load(settings["file"])
        per_task = settings["records_per_task"]
        self.reader = make_reader(self.module, settings["class"], settings["parameters"], per_task)

    def describe(self, scan: bool) -> None:
        """Says what the dataset has: shards, labels, and a version if the reader has one."""
        shards = shards_of(self.module, self.reader)
        version = self.reader.version() if callable(getattr(self.reader, "version", None)) else ""
        labels = None
        if self.settings["labels"] != "none":
            if callable(getattr(self.reader, "labels", None)):
                labels = [plain_label(label, self.settings["labels"] == "text") for label in self.reader.labels()]
            elif scan:
                labels = self.scan(shards)
        integers, classes = (None, []) if labels is None else numbered(labels)
        about = {"shards": shards, "version": str(version), "classes": classes, "labelled": labels is not None}
        self.send(b"S", json.dumps(about).encode())
        if integers is not None:
            if sys.byteorder == "big":
                integers.byteswap()
            self.send(b"I", integers.tobytes())

    def scan(self, shards: list[tuple[str, int, int]]) -> list[Label | None]:
        """Reads all records for their labels. A record that cannot be read has none."""
        labels: list[Label | None] = []
        step = self.settings["records_per_task"]
        for name, first, count in shards:
            for start in range(first, first + count, step):
                end = min(start + step, first + count)
                labels += self.scanned(name, start, end)
                self.send(b"P")
                self.answers.flush()
        return labels

    def scanned(self, name: str, start: int, end: int) -> list[Label | None]:
        """The labels of a task. If it fails, its records are read one by one."""
        try:
            return [self.label_of(record) for record in records_of(self.reader, name, start, end)]
        except Exception:
            if end - start > 1:
                return [label for each in range(start, end) for label in self.scanned(name, each, each + 1)]
            traceback.print_exc()
            return [None]

    def label_of(self, record: Reader) -> Label:
        """The label that must be there."""
        label = parts(record)[1]
        if label is None:
            raise ValueError("read_records() yielded a record without a label")
        return plain_label(label, self.settings["labels"] == "text")

    def read(self, name: str, start: int, end: int) -> None:
        """Sends the records of a task."""
        for record in records_of(self.reader, name, start, end):
            content, label, others = parts(record)
            if label is not None and self.settings["labels"] != "none":
                self.send(b"L", json.dumps(plain_label(label, self.settings["labels"] == "text")).encode())
            if others:
                self.send(b"O", json.dumps(others[:16]).encode())
            if len(content) > self.settings["byte_limit"]:
                self.send(b"B", struct.pack("<Q", len(content)))
            else:
                self.send(b"R", content)
            self.answers.flush()

    def serve(self) -> None:
        """Carries out one request after the other."""
        for line in self.requests:
            request = json.loads(line)
            try:
                getattr(self, request.pop("do"))(**request)
                self.send(b"D")
            except (Exception, SystemExit) as error:
                if request.get("start") is None or request["end"] - request["start"] == 1:
                    traceback.print_exc()
                words = traceback.format_exception_only(type(error), error)[-1].strip()
                self.send(b"E", words.encode(errors="replace")[:4096])
            self.answers.flush()


def main() -> None:
    """Answers the daemon until it hangs up."""
    # What a reader prints is for the log, and must not get between the frames.
    channel, life = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)
    end_with_the_daemon(life)
    Child(channel).serve()


main()
