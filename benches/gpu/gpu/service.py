"""A service that parts start, kill and start again."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpu.forebay import Forebay

# Longer than its drain_timeout.
PATIENCE = 30


class Service:
    """A `forebay serve` with a folder of its own; what it says is kept."""

    def __init__(self, forebay: Forebay, folder: Path, config: str, lanes: Sequence[str]) -> None:
        self._forebay = forebay
        self._folder = folder
        self._sockets = folder / "sockets"
        self.socket = self._sockets / "forebay.sock"
        listed = ", ".join(f'"{lane}"' for lane in lanes)
        head = f'drain_timeout = "5s"\n[decode]\nlanes = [{listed}]\n[control]\ndir = "{self._sockets}"\n'
        (folder / "forebay.toml").write_text(f'{head}[coordinator]\npath = "{folder}/ledgers"\n{config}')
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Runs it and waits until it is ready."""
        before = len(self.said())
        command = [self._forebay.binary, "serve", "--config", self._folder / "forebay.toml"]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(command, stderr=log)
        while " ready " not in self.said()[before:]:
            if self._process.poll() is not None:
                raise RuntimeError(f"forebay serve: {self.said()[before:].strip()}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Ends it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def end(self) -> int:
        """Ends it as a service manager would, and gives its exit code."""
        if self._process is None:
            return 0
        self._process.terminate()
        try:
            return self._process.wait(timeout=PATIENCE)
        finally:
            self.kill()

    def cpu_seconds(self) -> float:
        """Processor time that its process has taken."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def said(self) -> str:
        """Its log."""
        return self._log.read_text() if self._log.exists() else ""

    def status(self) -> str:
        """What `forebay status` says."""
        return self._forebay.says("status", "--socket-dir", str(self._sockets))


@contextlib.contextmanager
def serving(forebay: Forebay, config: str, lanes: Sequence[str]) -> Iterator[Service]:
    """A service with the streams of a configuration, for as long as it is looked at."""
    with tempfile.TemporaryDirectory(prefix="forebay-gpu-") as folder:
        service = Service(forebay, Path(folder), config, lanes)
        try:
            service.start()
            yield service
        finally:
            service.end()
