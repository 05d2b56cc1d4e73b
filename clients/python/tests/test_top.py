"""`forebay top` in a terminal, which is as it was when the view has ended."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

PATIENCE = 60
ROWS, COLUMNS = 24, 90


class Terminal:
    """A terminal with a program in it."""

    def __init__(self, command):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        ends = {"stdin": self.slave, "stdout": self.slave, "stderr": self.slave}
        # As in a shell that has left it behind. A signal that is ignored stays so over an exec.
        heeded = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.process = subprocess.Popen(command, **ends, start_new_session=True)
        signal.signal(signal.SIGHUP, heeded)

    def reads(self, words: bytes) -> None:
        """Reads until these words are shown."""
        until = time.monotonic() + PATIENCE
        while words not in self.shown:
            select.select([self.master], [], [], PATIENCE)
            assert time.monotonic() < until, f"{words!r} is never shown: {self.shown[-2000:]!r}"
            self.shown += os.read(self.master, 65536)

    def types(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def hang_up(self) -> None:
        os.close(self.master)
        os.close(self.slave)
        self.master = self.slave = None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.master is not None:
            self.hang_up()


@pytest.fixture
def view(binary, pictures, service):
    daemon = service(pictures(12), batch_size=4, size=16)
    folder = os.path.dirname(daemon.socket)
    terminal = Terminal([binary, "top", "--every", "100ms", "--socket-dir", folder])
    yield daemon, terminal
    terminal.close()


@pytest.mark.parametrize("key", [b"q", b"\x1b", b"\x03"], ids=["q", "escape", "ctrl-c"])
def test_a_view_shows_a_stream_and_a_key_gives_the_terminal_back(view, key):
    _, terminal = view
    terminal.reads(b"No trainer is attached.")
    # A daemon that has just started shows that the stream opens, and the next reading shows the stream.
    terminal.reads(b"stream train: ")
    terminal.types(b"\x1b[B\x1b[A")
    terminal.shown = b""
    terminal.reads(b"q: leave")
    terminal.types(key)
    # The user's own screen, and the cursor.
    terminal.reads(b"\x1b[?1049l\x1b[?25h")
    assert terminal.process.wait(PATIENCE) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before


def test_a_daemon_that_ends_is_told_below_what_it_said_last(view):
    daemon, terminal = view
    terminal.reads(b"No trainer is attached.")
    daemon.end()
    terminal.reads(b"No daemon answers")
    terminal.types(b"q")
    assert terminal.process.wait(PATIENCE) == 0


def test_a_view_whose_terminal_is_closed_ends(view):
    _, terminal = view
    terminal.reads(b"No trainer is attached.")
    terminal.hang_up()
    assert terminal.process.wait(PATIENCE) == 0
