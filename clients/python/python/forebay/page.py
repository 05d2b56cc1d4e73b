"""The page of a Loader: a process of its own that shows the Loader's daemon in a browser, and ends with the Loader."""

from __future__ import annotations

import subprocess
import threading
import weakref

from forebay._command import binary
from forebay.errors import Error

__all__ = ["LoaderPage"]

# What the process prints in front of the URL.
_BEGIN = "The page is at "
# How long it may take to end, in seconds.
_PATIENCE = 5


class LoaderPage:
    """The page's process. It is started when its URL is asked for."""

    def __init__(self, choice: list[str]) -> None:
        """Args: the options of `forebay page` that choose the daemon."""
        self._choice = choice
        self._lock = threading.Lock()
        self._url = ""
        self._process: subprocess.Popen[str] | None = None
        self._end: weakref.finalize[[subprocess.Popen[str]], LoaderPage] | None = None

    def url(self) -> str:
        """The URL of the running page. A page that has ended is started again.

        Raises:
            AttachError: There is no `forebay` binary.
            Error: The page cannot be started.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._url

    def close(self) -> None:
        """Ends the page. It does nothing if there is none."""
        if self._end is not None:
            self._end()

    def _start(self) -> None:
        command = [binary(), "page", *self._choice, "--listen", "127.0.0.1:0", "--ends-with-stdin"]
        pipe = subprocess.PIPE
        # A Ctrl-C is for this process. Its error output is read only if it does not start.
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        self.close()
        self._process, self._end = process, weakref.finalize(self, _end, process)
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            if not line.startswith(_BEGIN):
                words = f"{line}\n{process.stdout.read()}".strip()
                raise Error(f"the page cannot be started: {words or 'it has ended without a word'}")
            process.stdout.close()
        except BaseException:
            self.close()
            raise
        self._url = line[len(_BEGIN) :]


def _end(process: subprocess.Popen[str]) -> None:
    """Closes the page's input, which ends it."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        # It is stopped, say by a debugger.
        process.kill()
        process.wait()
