"""A daemon of its own, which serves one stream for as long as a figure takes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay import _command

STREAM = "bench"


@contextmanager
def served(folder: Path, place: Path, settings: str) -> Iterator[tuple[subprocess.Popen, Path]]:
    """A daemon and its socket. The stream is `bench`, with `settings` as lines of TOML."""
    own = place / f"run-{time.monotonic_ns()}"
    own.mkdir(mode=0o700)
    config = own / "forebay.toml"
    config.write_text(
        f'[control]\ndir = "{own}"\n[coordinator]\npath = "{own / "state"}"\n'
        f'[streams.{STREAM}]\nsource = "{folder}"\nbatch_size = 256\nsize = 224\n{settings}\n'
    )
    quiet = {**os.environ, "FOREBAY_LOG": "warn"}
    daemon = subprocess.Popen([_command.binary(), "serve", "--config", str(config)], env=quiet)
    try:
        yield daemon, own / "forebay.sock"
    finally:
        daemon.kill()
        daemon.wait()


def wait_for(socket: str | Path) -> None:
    """Waits until the daemon has its socket."""
    while not Path(socket).exists():
        time.sleep(0.01)
