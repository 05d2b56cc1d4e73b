"""One run in two halves: a release begins it and is killed in the middle, and any later build finishes it.

The first half leaves everything in the ledger that a later build must understand: an epoch that is complete, leases
that are out, a record in the quarantine, and static shards of which some have a position without a record.
What is written here in code, such as the pictures, must stay as it is: the kept runs are bound to it.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import forebay
from forebay import _command
from processes import Daemon, wait_until

from compat import surface

# Three shards of 12, 12 and 13: two of them have a batch without a record of their own.
RECORDS = 37
DAMAGED = 5
GOOD = [record for record in range(RECORDS) if record != DAMAGED]
STREAMS = """\
[streams.dynamic]
source = "SOURCE"
batch_size = 4
size = 8
shuffle = true
seed = 7
epochs = 2
on_error = "skip"
cache = { keep = "encoded", memory = "1mb" }

[streams.static]
source = "SOURCE"
batch_size = 4
size = 8
shuffle = true
seed = 7
epochs = 2
on_error = "skip"
run = "kept"
num_shards = 3
"""
EPOCHS = 2
TRAINERS = ("dynamic", "static/0", "static/1", "static/2")
LANES = """\
[streams.gpu]
source = "SOURCE"
batch_size = 4
size = 8
epochs = 1
"""


def dataset(folder: Path, damaged: int | None = None) -> Path:
    """Pictures whose names, sizes and pixels never change."""
    folder.mkdir()
    for record in range(RECORDS):
        pixels = bytes((record * 31 + at * 7 + at // 48 * 11) % 256 for at in range(16 * 16 * 3))
        head = b"what is no picture" if record == damaged else b"P6 16 16 255\n"
        (folder / f"{record:02}.ppm").write_bytes(head + pixels)
    return folder


class Service:
    """A `forebay serve` with its ledgers and its configuration in a folder, and its sockets in another one."""

    def __init__(self, folder: Path, streams: str, source: Path, decode: str = ""):
        # The path of a Unix socket has 107 bytes at most, and the folder of a test may have more.
        self._folder = tempfile.TemporaryDirectory(prefix="forebay-")
        self.sockets, state = Path(self._folder.name), folder / "state"
        state.mkdir(mode=0o700, exist_ok=True)
        self.ledger = state / "ledger.redb"
        config = folder / "forebay.toml"
        config.write_text(
            f'drain_timeout = "1s"\n[control]\ndir = "{self.sockets}"\n[coordinator]\npath = "{state}"\n'
            f"[decode]\n{decode}\n{streams.replace('SOURCE', str(source))}"
        )
        self.daemon = Daemon([_command.binary(), "serve", "--config", str(config)], self.sockets / "forebay.sock")

    def end(self) -> None:
        """Ends the daemon as an operator does."""
        self.daemon.end()
        self._folder.cleanup()

    def kill(self) -> None:
        """Kills the daemon."""
        self.daemon.kill()
        self._folder.cleanup()

    def loader(self, stream: str, **given: Any) -> forebay.Loader:
        """A trainer of a stream."""
        return forebay.Loader(f"stream:{stream}", socket=self.sockets / "forebay.sock", **given)

    def json(self, *arguments: str) -> Any:
        """What a command prints for programs."""
        command = [_command.binary(), *arguments, "--json", "--socket-dir", str(self.sockets)]
        told = subprocess.run(command, stdout=subprocess.PIPE)
        # An audit of epochs that are complete but for bad records ends with 3.
        assert told.returncode in ((0, 3) if "audit" in arguments else (0,)), command
        return json.loads(told.stdout)

    def fields(self) -> dict[str, list[str]]:
        """Fields of everything that it tells to programs."""
        asked = ("status", "status --quarantine", "audit")
        return {command: surface.fields(self.json(*command.split())) for command in asked}

    def metrics(self, *awaited: str) -> dict[str, list[str]]:
        """What Prometheus gets, when these names are among it: it is gathered from time to time."""
        told: dict[str, list[str]] = {}

        def gathered() -> bool:
            told.update(surface.metrics(self._scrape()))
            return all(name in told for name in awaited)

        wait_until(gathered)
        return told

    def _scrape(self) -> str:
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.sockets / "metrics.sock"))
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()


class Trainers:
    """Trainers of a service's streams and shards, by name, and the records that each was given, by epoch."""

    def __init__(self, service: Service, names: list[str] | tuple[str, ...]):
        self.delivered: dict[str, dict[str, list[int]]] = {name: {} for name in names}
        self.loaders = {}
        for name in names:
            stream, _, shard = name.partition("/")
            shards = sum(each.startswith(f"{stream}/") for each in names)
            given = {"sharding": forebay.Shard(int(shard), shards)} if shard else {}
            self.loaders[name] = service.loader(stream, **given)

    def take(self, name: str, count: int) -> None:
        """Takes that many batches, and one more, which stays in hand and is not delivered."""
        for _ in range(count):
            self._note(name, self.loaders[name].next())
        self.loaders[name].next()

    def take_epoch(self, name: str) -> int:
        """Takes the rest of an epoch. Gives the number of batches."""
        batches = 0
        for batch in self.loaders[name]:
            self._note(name, batch)
            batches += 1
        return batches

    def close(self) -> None:
        """Ends all of them."""
        for loader in self.loaders.values():
            loader.close()

    def _note(self, name: str, batch: forebay.Batch) -> None:
        self.delivered[name].setdefault(str(batch.epoch), []).extend(own(batch))


def own(batch: forebay.Batch) -> list[int]:
    """A batch's records, without copies."""
    return batch.records[batch.mask].tolist()


def begin(service: Service) -> Trainers:
    """The first half. The caller kills the daemon."""
    trainers = Trainers(service, TRAINERS)
    for name in ("dynamic", "static/0", "static/1"):
        trainers.take_epoch(name)
    for name, batches in {"dynamic": 3, "static/0": 1, "static/2": 2}.items():
        trainers.take(name, batches)
    # What a trainer has acknowledged before this call is in the ledger when it returns.
    for loader in trainers.loaders.values():
        loader.audit()
    return trainers


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """What a Loader of this build takes for the settings of a state that was kept."""
    shard = [given[key] for key in ("shard_id", "num_shards") if key in given]
    rest = {key: value for key, value in given.items() if key not in ("shard_id", "num_shards")}
    return {**rest, "sharding": forebay.Shard(*shard)} if shard else rest


def order(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Records of an epoch in their order, and a hash of what they were cropped and flipped to."""
    pixels = hashlib.sha256()
    records: list[int] = []
    with forebay.Loader(folder, epochs=1, **arguments(given)) as loader:
        for batch in loader:
            # Later versions also show copies of what they pad.
            pixels.update(batch.images[batch.mask].tobytes())
            records += own(batch)
    return {"records": records, "pixels": pixels.hexdigest()}


def state(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """A state in the middle of the second epoch, and the records of that epoch which it counts."""
    with forebay.Loader(folder, epochs=EPOCHS, **arguments(given)) as loader:
        for _ in loader:
            pass
        seen = own(loader.next()) + own(loader.next())
        return {"seen": seen, "state": loader.state_dict()}


def lanes(folder: Path, source: Path, gpu: Any) -> dict[str, list[str]]:
    """Metrics of lanes of a GPU: of one that decodes, and of one that is switched off since it decodes wrongly."""
    gpu.monkeypatch.setenv("FOREBAY_NVJPEG", gpu.library._name)
    told = {}
    cases = (({}, '["hardware", "cpu"]', "lane_refused_total"), ({"Wrong": 1}, '"auto"', "switched_off"))
    for knobs, ways, awaited in cases:
        gpu.set_for_daemons(**knobs)
        home = folder / awaited
        home.mkdir()
        service = Service(home, LANES, source, f"lanes = {ways}")
        try:
            with service.loader("gpu") as loader:
                list(loader)
                told.update(service.metrics(f"forebay_{awaited}", "forebay_consumers"))
        finally:
            service.end()
    return told
