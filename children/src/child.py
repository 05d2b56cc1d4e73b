"""Begins a program in Python that runs in a child process of the daemon. docs/decisions/0025 says how the two talk.

Requests are lines of JSON. Answers are frames: a letter, a length of 8 bytes, and so many bytes. Only large parts of
answers are not in their frames: they are in memory of the daemon, one after the other.
"""

from __future__ import annotations

import sys

# `python -c` looks for modules in the working folder first, where anybody may have put them.
sys.path[:] = [entry for entry in sys.path if entry]

import fcntl  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import struct  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from types import ModuleType  # noqa: E402
from typing import Any  # noqa: E402

# The letters of frames that each program has: an answer is complete, or ends with the last line of an exception.
DONE, ERROR = b"D", b"E"
# A part of an answer that is in its frame, and one that is in the daemon's memory.
PART, STORED = b"R", b"M"
# Parts of at least so many bytes are written into the memory. The daemon hears of them after so many seconds.
LARGE, SOON = 16 << 10, 0.001


def end_with_the_daemon(life: int) -> None:
    """The kernel ends this process and its children when the daemon closes its end, whatever they are doing."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(life, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life], [], [], 0)[0]:
        os._exit(1)


def memory_of(channel: int) -> int:
    """The memory for large records. The daemon sends it before its first request."""
    with socket.socket(fileno=os.dup(channel)) as daemon:
        room = socket.CMSG_SPACE(struct.calcsize("i"))
        _, sent, _, _ = daemon.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    return struct.unpack("i", sent[0][2])[0]


def module_of(name: str, code: str) -> ModuleType:
    """A module whose code is part of the daemon's binary."""
    module = sys.modules[name] = ModuleType(name)
    exec(compile(code, f"<{name}>", "exec"), module.__dict__)
    return module


class Daemon:
    """The connection to the daemon."""

    def __init__(self, channel: int, memory: int) -> None:
        self.requests = open(channel, "rb", closefd=False)  # noqa: SIM115 - as long as the process
        self.answers = open(channel, "wb", closefd=False)  # noqa: SIM115
        self.memory = memory
        # Where the next part of this answer is in the memory, and when the daemon hears of those that are there.
        self.place, self.due = 0, 0.0

    def send(self, kind: bytes, *bodies: bytes | memoryview) -> None:
        """Sends a frame with the next ones."""
        self.answers.write(struct.pack("<cQ", kind, sum(len(body) for body in bodies)))
        for body in bodies:
            self.answers.write(body)

    def flush(self) -> None:
        """Sends what was not sent yet."""
        self.answers.flush()
        self.due = time.monotonic() + SOON

    def give(self, part: memoryview) -> None:
        """Sends a part of an answer, through the memory if it is large."""
        if len(part) < LARGE or not self.store(part):
            self.send(PART, part)
        else:
            self.answers.write(struct.pack("<cQ", STORED, len(part)))
            if time.monotonic() < self.due:
                return
        self.flush()

    def store(self, content: memoryview) -> bool:
        """Writes a part into the memory. False if there is no room for it."""
        place = self.place
        try:
            while content:
                written = os.pwrite(self.memory, content, place)
                content, place = content[written:], place + written
        except OSError:
            return False
        self.place = place
        return True

    def serve(self, program: Any) -> None:  # noqa: ANN401 - it has a method for each request
        """Carries out one request after the other."""
        for line in self.requests:
            request = json.loads(line)
            self.place, self.due = 0, time.monotonic() + SOON
            try:
                getattr(program, request.pop("do"))(**request)
                self.send(DONE)
            except (Exception, SystemExit) as error:
                words = traceback.format_exception_only(type(error), error)[-1].strip()
                self.send(program.failed(error, request), words.encode(errors="replace")[:4096])
            self.answers.flush()


def main() -> None:
    """Answers the daemon until it hangs up. The arguments are the program's modules: the name and the code of each."""
    # What a program prints is for the log, and must not get between the frames.
    channel, life = os.dup(0), os.dup(1)
    memory = memory_of(channel)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)
    end_with_the_daemon(life)
    sys.modules["forebay_child"] = sys.modules[__name__]
    codes = sys.argv[1:]
    del sys.argv[1:]
    modules = [module_of(name, code) for name, code in zip(codes[::2], codes[1::2])]
    daemon = Daemon(channel, memory)
    daemon.serve(modules[-1].program(daemon))


main()
