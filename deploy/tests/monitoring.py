"""A Prometheus, and the daemon and the coordinator that it reads, for tests of the alerts and the dashboard."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("FOREBAY_BINARY", ROOT / "target" / "debug" / "forebay"))
RULES = ROOT / "deploy" / "prometheus" / "forebay.rules.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "forebay.json"


@lru_cache
def programs() -> Path:
    """The folder of prometheus and promtool. Without them, the test is skipped."""
    found = subprocess.run([ROOT / "scripts" / "prometheus.sh"], capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip(found.stderr.strip())
    return Path(found.stdout.strip())


def daemon_binary() -> Path:
    """The daemon. Without a build, the test is skipped."""
    if not BINARY.is_file():
        pytest.skip(f"there is no {BINARY}; `cargo build -p forebay` makes it")
    return BINARY


def queries() -> dict[str, str]:
    """The queries of the dashboard, by panel and letter."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return {
        f"{panel['title']} {target['refId']}": target["expr"] for panel in panels for target in panel.get("targets", [])
    }


def metrics_of(text: str) -> set[str]:
    """The metrics of daemons and coordinators that an expression names."""
    return set(re.findall(r"\b(?:forebay|process)_[a-z_]+", text))


def free_port() -> int:
    """A port of this machine that nobody listens on at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(question: Callable[[], Any], seconds: float = 60) -> Any:
    """Asks until there is an answer, and returns it."""
    end = time.monotonic() + seconds
    while not (answer := question()):
        assert time.monotonic() < end, f"{question} has no answer for {seconds} s"
        time.sleep(0.1)
    return answer


@contextlib.contextmanager
def process(log: Path, *command: str | Path, **extra: str) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program, and ends it at the end. Its output is in the file `log`."""
    with log.open("wb") as output:
        running = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **extra})
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        # pytest shows it if the test fails.
        print(f"{log.name}:\n{log.read_text(errors='replace')}")


class Prometheus:
    """A Prometheus that answers queries."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str, **arguments: str) -> Any:
        """The data of an answer of its API."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that an expression has now, or nothing if Prometheus does not answer yet."""
        with contextlib.suppress(OSError):
            return self.get("query", query=expression)["result"]
        return []


class Nodes:
    """A coordinator and a daemon with two streams: a cached one, and one over HTTP that is read by requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {name: free_port() for name in ("ledgers", "coordinator", "daemon", "files")}

    @contextlib.contextmanager
    def coordinator(self) -> Iterator[subprocess.Popen[bytes]]:
        """Runs the coordinator."""
        listen = ("--listen", f"127.0.0.1:{self.ports['ledgers']}", "--path", self.folder / "ledgers")
        metrics = ("--metrics", f"127.0.0.1:{self.ports['coordinator']}")
        with process(self.folder / "coordinator.log", daemon_binary(), "coordinate", *listen, *metrics) as running:
            yield running

    @contextlib.contextmanager
    def files(self) -> Iterator[None]:
        """Makes the pictures, and gives an archive of them out over HTTP."""
        size = ("--count", "40", "--width", "64", "--height", "48")
        subprocess.run(
            (daemon_binary(), "sample", self.folder / "pictures", *size), check=True, stdout=subprocess.DEVNULL
        )
        (self.folder / "public").mkdir()
        archive = self.folder / "public" / "pictures.tar"
        subprocess.run(["tar", "-cf", archive, "-C", self.folder / "pictures", "."], check=True)
        serve = (sys.executable, "-m", "http.server", "-b", "127.0.0.1", "-d", self.folder / "public")
        with process(self.folder / "files.log", *serve, str(self.ports["files"])):
            yield

    @contextlib.contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        """Runs the daemon, and waits until its streams are open."""
        files = f"http://127.0.0.1:{self.ports['files']}/"
        config = self.folder / "forebay.toml"
        config.write_text(
            f"""
            drain_timeout = "1s"
            [streams.train]
            source = "{self.folder / "pictures"}"
            batch_size = 8
            size = 32
            cache = {{ keep = "encoded", memory = "8mb" }}
            [streams.remote]
            source = "{files}pictures.tar"
            batch_size = 8
            size = 32
            [sources]
            objects = ["{files}"]
            [coordinator]
            endpoint = "http://127.0.0.1:{self.ports["ledgers"]}"
            node = "train-1"
            [control]
            dir = "{self.folder / "sockets"}"
            [metrics]
            address = "127.0.0.1:{self.ports["daemon"]}"
            """
        )
        # Caches and indexes of this test are its own.
        own = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        with process(self.folder / "daemon.log", daemon_binary(), "serve", "--config", config, **own) as running:
            wait = (daemon_binary(), "status", "--wait=60s", "--socket-dir", self.folder / "sockets")
            subprocess.run(wait, check=True, stdout=subprocess.DEVNULL)
            yield running

    @contextlib.contextmanager
    def prometheus(self, config: str) -> Iterator[Prometheus]:
        """Runs Prometheus with a configuration that names the alerts beside it."""
        file = self.folder / "prometheus.yml"
        file.write_text(config)
        (self.folder / RULES.name).write_text(RULES.read_text())
        port = free_port()
        options = (f"--config.file={file}", f"--storage.tsdb.path={self.folder / 'tsdb'}")
        listen = f"--web.listen-address=127.0.0.1:{port}"
        with process(self.folder / "prometheus.log", programs() / "prometheus", *options, listen):
            yield Prometheus(port)
