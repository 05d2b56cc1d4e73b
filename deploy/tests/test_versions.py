"""Two builds on one machine and in one cluster: today's, and the last one of the protocol's version before.

Each side is a real build. `clients/python/tests/test_versions.py` has what needs a version that does not exist yet.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, run

RECORDS = 60
BUILDS = ("today", "earlier")
EPOCH = ROOT / "deploy" / "tests" / "epoch.py"
# The settings of epoch.py.
STREAM = {"batch_size": 8, "size": 96, "shuffle": True, "seed": 7, "epochs": 2}
# A trainer of one of two nodes: what it gets of an epoch.
NODE = """
import forebay, sys
with forebay.Loader("stream:train", socket=sys.argv[1]) as loader:
    for batch in loader:
        print(*batch.records[: batch.valid].tolist(), flush=True)
"""
PATIENCE = 60.0

Build = Callable[[str], Path]


@pytest.fixture(scope="module")
def build(tool: Callable[..., Path]) -> Build:
    """The folder of the programs of a build, python among them."""
    folders = {"today": Path(sys.executable).parent, "earlier": tool("earlier.sh")}
    return folders.__getitem__


@pytest.fixture(scope="module")
def pictures(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated pictures."""
    folder = tmp_path_factory.mktemp("pictures") / "pictures"
    run(build("today") / "forebay", "sample", folder, "--count", str(RECORDS), "--classes", "3")
    return folder


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts programs, and ends them with the test."""
    with contextlib.ExitStack() as ends:

        def start(*command: str | Path) -> subprocess.Popen:
            program = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL)
            ends.callback(program.wait)
            ends.callback(program.send_signal, signal.SIGTERM)
            return program

        yield start


def waited_for(there: Callable[[], bool]) -> None:
    """Returns once another process has done something."""
    until = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def service(
    started: Callable[..., subprocess.Popen], programs: Path, folder: Path, source: Path, coordinator: dict[str, str]
) -> Path:
    """The socket of a service with the stream `train`."""
    (folder / "forebay").mkdir(parents=True, mode=0o700)
    tables = {
        "control": {"dir": str(folder / "forebay")},
        "coordinator": coordinator,
        "streams.train": {"source": str(source), **STREAM},
    }
    lines = [
        line
        for name, keys in tables.items()
        for line in (f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items()))
    ]
    (folder / "forebay.toml").write_text("\n".join(lines) + "\n")
    daemon = started(programs / "forebay", "serve", "--config", folder / "forebay.toml")
    path = folder / "forebay" / "forebay.sock"

    def answers() -> bool:
        assert daemon.poll() is None, "forebay serve ended at its start"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            return probe.connect_ex(os.fspath(path)) == 0

    waited_for(answers)
    return path


@pytest.mark.parametrize(("wheel", "daemon"), [("today", "earlier"), ("earlier", "today"), ("earlier", "earlier")])
def test_a_wheel_reads_the_epoch_of_a_service_of_the_other_build_and_serves_its_own(
    wheel: str, daemon: str, build: Build, pictures: Path, started: Callable[..., subprocess.Popen], tmp_path: Path
):
    service(started, build(daemon), tmp_path, pictures, {"path": str(tmp_path / "state")})

    def epoch(source: str | Path) -> str:
        return run(build(wheel) / "python", EPOCH, source, XDG_RUNTIME_DIR=str(tmp_path))

    of_the_service = epoch("stream:train").splitlines()
    assert of_the_service[1] == str(RECORDS)
    assert "complete=True, adds_up=True" in of_the_service[2]
    # With a path, the wheel's daemon serves beside the service, and the pixels are those of either build.
    assert epoch(pictures).splitlines()[:2] == of_the_service[:2]


@pytest.mark.parametrize("coordinator", BUILDS)
def test_daemons_of_both_builds_share_the_epochs_of_a_coordinator_of_either(
    coordinator: str, build: Build, pictures: Path, started: Callable[..., subprocess.Popen], tmp_path: Path
):
    place = f"unix:{tmp_path / 'coordinator.sock'}"
    started(build(coordinator) / "forebay", "coordinate", "--listen", place, "--path", tmp_path / "ledgers")
    run(build(coordinator) / "forebay", "status", "--wait", "--coordinator", place)
    trainers = []
    for node in BUILDS:
        address = {"endpoint": place, "node": node}
        path = service(started, build(node), tmp_path / node, pictures, address)
        trainers.append((build(node) / "python", "-c", NODE, path))
    # Both read the same epoch.
    running = [
        subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) for command in trainers
    ]
    printed = [program.communicate(timeout=PATIENCE)[0] for program in running]
    assert [program.returncode for program in running] == [0, 0]
    records = sorted(int(word) for text in printed for word in text.split())
    assert records == list(range(RECORDS)), "each record comes once"
    audits = [
        json.loads(run(build(asked) / "forebay", "audit", "train", "--json", "--coordinator", place))
        for asked in BUILDS
    ]
    for audit in audits:
        (stream,) = audit["streams"]
        first = stream["epochs"][0]
        assert (first["verdict"], first["records"]) == ("adds_up", RECORDS)
