"""Calls the functions of a transform list in this process, in the thread that waits for a batch (`python_workers=0`).

The daemon asks as it asks its child processes: over a socket, with the pictures in memory that both processes map. It
also sends the program that answers, which is the one of its children.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any, Callable

from forebay import _native
from forebay.errors import ForkError
from forebay.transforms.lists import RandomApply, RandomChoice
from forebay.transforms.steps import Python

__all__ = ["CalledHere", "called_here"]

# The longest path that a socket may have.
_LONGEST = 100
_DONE = b"D"
_SOON = 0.001


def called_here(given: dict[str, Any]) -> tuple[dict[str, Any], CalledHere]:
    """The arguments of a Loader in which functions have names that the daemon takes, and what calls them.

    Args:
        given: The arguments. Lists of transforms are in `transform` and `views`. Whatever else is there comes back as
            it is, and is refused later.
    """
    functions: dict[str, Callable[..., Any]] = {}
    named = {key: _named(given[key], functions) for key in ("transform", "views") if given.get(key) is not None}
    return {**given, **named}, CalledHere(functions)


def _named(value: Any, functions: dict[str, Callable[..., Any]]) -> Any:  # noqa: ANN401 - whatever the caller gave
    """Transforms, or what has some, with names in place of functions, which are put into `functions`."""
    if isinstance(value, Python) and callable(value.function):
        name = f"forebay_loader:function_{len(functions)}"
        functions[name] = value.function
        return replace(value, function=name)
    if isinstance(value, (RandomApply, RandomChoice)):
        return replace(value, transforms=_named(value.transforms, functions))
    if isinstance(value, (list, tuple)):
        return [_named(each, functions) for each in value]
    if isinstance(value, Mapping):
        return {key: _named(each, functions) for key, each in value.items()}
    return value


class CalledHere:
    """Listens for the daemon, and answers it.

    Attributes:
        socket: The path at which it listens.
        door: The listening socket, for the wait of a session.
    """

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        self._functions = functions
        self._pid = os.getpid()
        folder = tempfile.mkdtemp(prefix="forebay-")
        if len(folder) > _LONGEST:
            os.rmdir(folder)
            folder = tempfile.mkdtemp(prefix="forebay-", dir="/tmp")
        self.socket = os.path.join(folder, "s")
        self.door = _native.StepDoor(self.socket)
        # A child that is forked must not remove it.
        self._remove = weakref.finalize(self, _remove, folder, self._pid)
        self._asked: _Asked | None = None

    def serve(self) -> None:
        """Answers what the daemon has asked so far.

        Raises:
            BaseException: A function has raised what ends a program or a debugger. The daemon asks again.
        """
        if os.getpid() != self._pid:
            raise ForkError("this process was forked from the one whose Loader calls functions")
        if self._asked is None:
            connection = self.door.accept()
            if connection is None:
                return
            self._asked = _Asked(connection, self._functions)
        try:
            continues = self._asked.serve()
        except BaseException:
            self._hang_up()
            raise
        if not continues:
            self._hang_up()

    def close(self) -> None:
        """Hangs up, and listens no more."""
        self._hang_up()
        self._remove()

    def _hang_up(self) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            asked.close()
            self.door.hang_up()


class _Asked:
    """A connection of the daemon."""

    def __init__(self, connection: int, functions: dict[str, Callable[..., Any]]) -> None:
        self._socket = socket.socket(fileno=connection)
        self._functions = functions
        self._program: Any = None
        self._request = bytearray()
        self._answer = bytearray()
        # Of the program that answers: the memory with the pictures, and when the daemon hears of an answer.
        self.memory = -1
        self.due = 0.0

    def serve(self) -> bool:
        """Answers the requests that are there. False once the daemon has hung up."""
        try:
            while True:
                if self.memory < 0:
                    _, sent, _, _ = self._socket.recvmsg(
                        1, socket.CMSG_SPACE(4), socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
                    )
                    if not sent:
                        return False
                    self.memory = struct.unpack("i", sent[0][2])[0]
                received = self._socket.recv(1 << 16, socket.MSG_DONTWAIT)
                if not received:
                    return False
                self._request += received
                while b"\n" in self._request:
                    line, _, self._request = self._request.partition(b"\n")
                    self._carry_out(json.loads(line))
        except BlockingIOError:
            return True
        except OSError:
            # The daemon has ended, or wants no answer any more. An exception of a function never comes here.
            return False

    def _carry_out(self, request: dict[str, Any]) -> None:
        modules = request.pop("program", None)
        if modules is not None:
            for name, code in modules:
                # The last one imports the others.
                program = sys.modules[name] = ModuleType(name)
                exec(compile(code, f"<{name}>", "exec"), program.__dict__)
            self._program = program.Program(self, self._functions)
        self.due = time.monotonic() + _SOON
        try:
            getattr(self._program, request.pop("do"))(**request)
        finally:
            self.send(_DONE)
            self.flush()

    def send(self, kind: bytes, *bodies: bytes) -> None:
        """Sends a frame with the next ones."""
        self._answer += struct.pack("<cQ", kind, sum(len(body) for body in bodies))
        for body in bodies:
            self._answer += body

    def flush(self) -> None:
        """Sends what was not sent yet."""
        answer, self._answer = bytes(self._answer), bytearray()
        self._socket.sendall(answer)
        self.due = time.monotonic() + _SOON

    def close(self) -> None:
        """Closes the connection, and lets go of the pictures."""
        self._socket.close()
        if self.memory >= 0:
            os.close(self.memory)
        self._program = None


def _remove(folder: str, pid: int) -> None:
    """Removes the folder of a socket, in the process that has made it."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
