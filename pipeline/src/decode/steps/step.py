"""Calls functions of users with pictures and batches, on top of child.py. docs/python-steps.md says what they get.

A picture is in the arena of this child, which is mapped: the function works on it where it is. The daemon reads the
result there.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import importlib.machinery
import importlib.util
import json
import mmap
import operator
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Callable

from forebay_batch import BatchArena
from forebay_masks import MaskArena
from forebay_sample import ColumnForm, Sample, WrongResultError, in_form

# The answers to a call: the result is in the arena, as a picture, or as floats in the form of a batch; an exception;
# the record is to be left out; a result that is none; something else than the record is at fault; no memory; it is to
# be called again with what it got.
MADE, FLOATS, RAISED, SKIPPED, WRONG, LACK, NO_MEMORY, AGAIN = b"K", b"F", b"X", b"S", b"W", b"O", b"N", b"A"
# The answer to a request that fails.
ERROR = b"E"
# The answers to the first request: what was imported; why it cannot be.
IMPORTED, NOT_IMPORTED = b"J", b"I"
# What a machine lacks, or its storage fails with. The picture is not to blame.
LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO)
# Lines and bytes of a traceback that are of use, and bytes of an exception.
LINES, BYTES, EXCEPTION = 20, 3000, 500


def is_of_user(error: BaseException) -> bool:
    """Whether an exception is for the caller of a Loader: it ends the program, or a debugger."""
    return not isinstance(error, Exception) or type(error).__name__ == "BdbQuit"


def last_lines(error: BaseException) -> bytes:
    """The end of the traceback, without the frames of this program."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith("<forebay"):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    return "\n".join(text.strip().splitlines()[-LINES:]).encode(errors="replace")[-BYTES:]


def told(error: BaseException) -> bytes:
    """The exception in one line, and below it the end of the traceback. What is cut off elsewhere is the end of it."""
    name = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    return name.encode(errors="replace")[:EXCEPTION] + b"\n" + last_lines(error)


def is_ours(error: BaseException, name: str) -> bool:
    """Whether an exception is this one of the package forebay, which only a function itself may have imported."""
    kind = getattr(sys.modules.get("forebay.errors"), name, None)
    return isinstance(kind, type) and isinstance(error, kind)


def check_place(module: str, folders: list[str]) -> None:
    """Refuses a module whose file is not below one of the folders, before any of its code runs."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        spec = importlib.util.find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}")
        places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ["(built-in)"])
        for place in places:
            real = os.path.realpath(place)
            if not any(os.path.commonpath([real, folder]) == folder for folder in folders if os.path.isabs(real)):
                raise ImportError(
                    f"{name} is {place!r}, which a service does not run: it is below none of the folders of `python` "
                    f"in [sources] of the configuration ({', '.join(folders)})"
                )


def imported(name: str) -> Any:  # noqa: ANN401 - a module
    """A module, from its source.

    Python's cached bytecode is told from other bytecode by the second and the size of the source. It may be that of an
    earlier edit, and the hash that is compared is that of the source.
    """
    parent, _, last = name.rpartition(".")
    if parent:
        importlib.import_module(parent)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    loader: Any = getattr(spec, "loader", None)
    if spec is None or type(loader) is not importlib.machinery.SourceFileLoader:
        return importlib.import_module(name)
    loader.get_code = lambda _name: loader.source_to_code(loader.get_data(loader.path), loader.path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    if parent:
        setattr(sys.modules[parent], last, module)
    return sys.modules[name]


def found(name: str, folders: list[str] | None) -> Any:  # noqa: ANN401 - whatever a user has
    """The object of this name, such as "module:name"."""
    module, _, path = name.partition(":")
    if folders is not None:
        check_place(module, [os.path.realpath(folder) for folder in folders])
    found: Any = imported(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def hash_of(name: str) -> str:
    """The hash of the file of a function's module."""
    file = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    if file is None:
        return ""
    with open(file, "rb") as opened:
        return hashlib.sha256(opened.read()).hexdigest()


class Function:
    """One function, and what is seeded before each call of it."""

    def __init__(self, step: dict[str, Any], find: Callable[[str], Any]) -> None:
        self.function: Callable[..., Any] = find(step["function"])
        if not callable(self.function):
            raise TypeError(f"{step['function']} is a {type(self.function).__name__}, which cannot be called")
        self.seeded = [find(name) for name in step["seeded"]]
        unfit = next(
            (name for name, each in zip(step["seeded"], self.seeded) if not hasattr(each, "set_random_seed")), None
        )
        if unfit is not None:
            raise TypeError(f"seeded: {unfit} has no method set_random_seed")
        if hasattr(self.function, "set_random_seed"):
            self.seeded.append(self.function)

    def seed(self, seed: int) -> None:
        """Seeds all generators that a function may draw from, each only where its module is imported."""
        sys.modules["random"].seed(seed)
        sys.modules["numpy"].random.seed([seed >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)])
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "default_generator"):
            torch.default_generator.manual_seed(seed & (1 << 63) - 1)
        for each in self.seeded:
            each.set_random_seed(seed & 0xFFFFFFFF)


class Step(Function):
    """A function of pictures: the size of what it gives, if not that of what it gets, and the form of its floats."""

    def __init__(self, step: dict[str, Any], find: Callable[[str], Any]) -> None:
        self.output, self.floats = step["gives"], step["floats"]
        super().__init__(step, find)

    def call(self, picture: Any, sample: Sample) -> tuple[Any, bool]:  # noqa: ANN401 - arrays
        """Calls the function. Says whether all was seeded before: it is called again if it has imported torch."""
        had_torch = "torch" in sys.modules
        self.seed(sample.seed)
        result = self.function(picture, sample)
        return result, had_torch or "torch" not in sys.modules


@contextmanager
def kept_states() -> Iterator[None]:
    """The generators of this process are afterwards as they were before."""
    random, numpy, torch = (sys.modules.get(name) for name in ("random", "numpy", "torch"))
    states = random.getstate(), numpy.random.get_state()
    of_torch = torch.default_generator.get_state() if hasattr(torch, "default_generator") else None
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        if of_torch is not None:
            torch.default_generator.set_state(of_torch)


class Program:
    """Imports functions, and calls them.

    Args:
        daemon: The connection to it: its descriptor `memory`, the time `due`, and the methods `send` and `flush`.
        given: The functions of a Loader, which calls them in its own process, by their names in the daemon. None in a
            process that does nothing else.
    """

    def __init__(self, daemon: Any, given: dict[str, Any] | None = None) -> None:  # noqa: ANN401 - one of two classes
        self.daemon, self.given, self.pid = daemon, given, os.getpid()
        self.steps: list[Step] = []

    def begin(
        self,
        steps: list[Any],
        columns: list[Any],
        masks: dict[str, Any],
        batch: dict[str, Any] | None,
        path: list[str],
        folders: list[str] | None,
        room: int,
    ) -> None:
        """Imports all functions. The stream has these columns and masks, and a picture so much room in the arena."""
        try:
            if self.given is None:
                sys.path[:] = path + [entry for entry in sys.path if entry not in path]
            import random  # noqa: F401 - it is seeded

            import numpy as np

            self.np, self.room = np, room
            self.forms = [ColumnForm(np, form) for form in columns]
            self.arena = mmap.mmap(self.daemon.memory, os.fstat(self.daemon.memory).st_size)
            # A process that a function starts by a fork does not have the pictures of later calls.
            self.arena.madvise(mmap.MADV_DONTFORK)
            self.masks = MaskArena(np, self.arena, masks, room)
            given = self.given or {}

            def find(name: str) -> Any:  # noqa: ANN401 - whatever a user has
                return given[name] if name in given else found(name, folders)

            self.steps = [Step(step, find) for step in steps]
            self.of_batches = None if batch is None else Function(batch, find)
            self.batches = None if batch is None else BatchArena(np, self.arena, batch)
            all_functions = [*steps, *([] if batch is None else [batch])]
            # A Loader may have functions that are in no file.
            files = {step["function"]: hash_of(step["function"]) for step in all_functions if self.given is None}
        except BaseException as error:
            self.daemon.send(NOT_IMPORTED, last_lines(error))
        else:
            self.daemon.send(IMPORTED, json.dumps(files).encode())

    def call(self, calls: list[dict[str, Any]]) -> None:
        """Calls functions, each with the picture at its place in the arena."""
        for place, call in enumerate(calls):
            try:
                letter, words = self.answer(place, call)
            except BaseException:
                for _repeated in calls[place:]:
                    self.daemon.send(LACK, b"it was interrupted")
                raise
            self.end_forked()
            self.daemon.send(letter, words)
            if time.monotonic() >= self.daemon.due:
                self.daemon.flush()

    def batch(self, shown: int, epoch: int, seed: str) -> None:
        """Calls the function of batches with the batch that is in the arena."""
        try:
            letter, words = self.answer_batch(shown, epoch, int(seed, 16))
        except BaseException:
            self.daemon.send(LACK, b"it was interrupted")
            raise
        self.end_forked()
        self.daemon.send(letter, words)

    def answer_batch(self, shown: int, epoch: int, seed: int) -> tuple[bytes, bytes]:
        """The answer to that."""
        try:
            with nullcontext() if self.given is None else kept_states():
                batch, has_torch = self.batches.batch(shown, epoch, seed), "torch" in sys.modules
                self.of_batches.seed(seed)
                self.batches.keep(self.of_batches.function(batch), batch)
        except BaseException as error:
            return self.failure(error)
        # It was not seeded before the call.
        return (MADE if has_torch or "torch" not in sys.modules else AGAIN), b""

    def end_forked(self) -> None:
        """Where a function has forked and returned in both processes, only one of them answers."""
        if os.getpid() != self.pid:
            os._exit(0)

    def failure(self, error: BaseException) -> tuple[bytes, bytes]:
        """What is answered if a call has raised this. What is for the caller of a Loader is raised again."""
        if isinstance(error, WrongResultError):
            return WRONG, str(error).encode(errors="replace")
        if self.given is not None and is_of_user(error):
            raise error
        number = error.errno if isinstance(error, OSError) else None
        if self.given is None and (isinstance(error, MemoryError) or number == errno.ENOMEM):
            return NO_MEMORY, last_lines(error)
        if number in LACKS:
            return LACK, last_lines(error)
        if is_ours(error, "Skip"):
            return SKIPPED, " ".join(str(error).split()).encode(errors="replace")[:EXCEPTION]
        if is_ours(error, "Outage"):
            return LACK, last_lines(error)
        return RAISED, told(error)

    def answer(self, place: int, call: dict[str, Any]) -> tuple[bytes, bytes]:
        """The answer to one call."""
        step, beside, takes = self.steps[call["step"]], b"", tuple(call["size"])
        gives = takes if step.output is None else tuple(step.output)
        try:
            picture = self.picture(place, takes)
            with nullcontext() if self.given is None else kept_states():
                masks = partial(self.masks.read, place, takes, call["masks"])
                result, was_seeded = step.call(picture, Sample(call, self.forms, masks))
            if not was_seeded:
                return AGAIN, b""
            if isinstance(result, tuple):
                result, beside = self.parts(result, call["sample"][2], partial(self.masks.write, place, gives))
            is_there = result is None or result is picture
            is_kept = not is_there or gives != takes
            letter = self.keep(place, step.floats, gives, result) if is_kept else MADE
        except BaseException as error:
            return self.failure(error)
        return letter, beside

    def parts(self, result: tuple[Any, ...], view: str, write_mask: Callable[[str, Any], bool]) -> tuple[Any, bytes]:
        """The picture of a result, and what is beside it as it is sent. Masks are in the arena then."""
        if len(result) != 2 or not isinstance(result[1], dict):
            kinds = ", ".join(type(part).__name__ for part in result)
            raise WrongResultError(f"it has returned a tuple of {kinds}: return a picture, None, or (picture, dict)")
        picture, changed = result
        if changed and view != "images":
            raise WrongResultError(
                f"it has returned {', '.join(map(repr, changed))} for the view {view!r}, but only functions of "
                "'images' return these: return the picture alone"
            )
        answer: dict[str, Any] = {"columns": {}, "masks": {}}
        places = {form.name: place for place, form in enumerate(self.forms)}
        masks = {name: place for place, name in enumerate(self.masks.dtypes)}
        for name, value in changed.items():
            if name == "label":
                answer["label"] = operator.index(value)
                if not -(1 << 63) <= answer["label"] < 1 << 63:
                    raise WrongResultError(f"its label {value} does not fit into 64 bits")
            elif name in places:
                answer["columns"][str(places[name])] = self.forms[places[name]].write(value)
            elif name in masks:
                answer["masks"][str(masks[name])] = write_mask(name, value)
            else:
                names = ", ".join(["label", *places, *masks])
                raise WrongResultError(f"it has returned something for {name!r}, but may do so for: {names}")
        return picture, json.dumps(answer).encode()

    def picture(self, place: int, size: tuple[int, int]) -> Any:  # noqa: ANN401 - an array
        """The picture of this size at a place of the arena."""
        height, width = size
        flat = self.np.frombuffer(self.arena, self.np.uint8, height * width * 3, place * self.room)
        return flat.reshape(height, width, 3)

    def keep(self, place: int, floats: Any, size: tuple[int, int], result: Any) -> bytes:  # noqa: ANN401 - what it returned
        """Puts a result, which must have this size, at its place in the arena. Gives the letter of the answer."""
        if result is None:
            raise WrongResultError(
                "it has returned None, but its output is declared with another size: return that picture"
            )
        if not (hasattr(result, "__array__") or hasattr(result, "__array_interface__")):
            raise WrongResultError(f"it has returned a {type(result).__name__}: return an array, or None")
        array = self.np.asarray(result)
        expected = (*size, 3)
        is_float = floats is not None and array.dtype == self.np.float32
        if not (is_float or array.dtype == self.np.uint8) or array.shape != expected:
            kinds = "uint8" if floats is None else "uint8 or float32"
            raise WrongResultError(
                f"it has returned {array.dtype} {list(array.shape)}, but must return {kinds} {list(expected)}"
                + ("" if array.shape == expected else ": declare another size with output")
            )
        if not is_float:
            self.picture(place, size)[...] = array
            return MADE
        values = in_form(self.np, array, *floats)
        self.np.frombuffer(self.arena, values.dtype, values.size, place * self.room)[...] = values.ravel()
        return FLOATS

    def failed(self, _error: BaseException, _request: dict[str, Any]) -> bytes:
        """The letter of an answer to a request that is none."""
        return ERROR


def program(daemon: Any) -> Program:  # noqa: ANN401 - of child.py
    """What answers the daemon's requests."""
    return Program(daemon)
