"""The demonstration: generated pictures, `forebay serve`, two trainers on one stream, a crash, and the audit.

`make demo` calls it with the wheel installed. Everything is under .demo/, but for the contact sheet demo-preview.png.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".demo"
PICTURES = HERE / "pictures"
PREVIEW = ROOT / "demo-preview.png"
FOREBAY = ROOT / ".venv" / "bin" / "forebay"
COUNT, CLASSES, EPOCHS, TRAINERS = 400, 5, 3, 2

CONFIG = """\
drain_timeout = "2s"

[streams.demo]
source = "{pictures}"
batch_size = 24
size = 128
shuffle = true
seed = 42
epochs = {epochs}

[ring]
# The trainers, and the preview before them.
trainers = {trainers}

[coordinator]
path = "{state}"

[control]
dir = "{sockets}"
"""


def main() -> None:
    """Runs it and prints the summary."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    make_pictures()
    # A socket's path may have 107 bytes; that of the checkout may be longer.
    with tempfile.TemporaryDirectory(prefix="forebay-demo-") as sockets:
        config = configuration(sockets)
        with Daemon(config, sockets) as daemon:
            preview = ("preview", "--stream", "demo", "--socket-dir", sockets, "-o", PREVIEW)
            subprocess.run([FOREBAY, *preview], check=True, stdout=subprocess.DEVNULL)
            reports, killed_at = train(daemon)
            audit = daemon.audit()
    summary(reports, killed_at, audit)


def stop(number: int, _frame: object) -> NoReturn:
    """A signal ends the demonstration as an exception does: what it started is ended first."""
    sys.exit(128 + number)


def make_pictures() -> None:
    """Generates the data set, once."""
    if PICTURES.exists():
        return
    # Under another name until it is whole.
    started = HERE / "pictures.part"
    shutil.rmtree(started, ignore_errors=True)
    numbers = ("--count", str(COUNT), "--classes", str(CLASSES))
    subprocess.run([FOREBAY, "sample", started, *numbers], check=True, stdout=subprocess.DEVNULL)
    started.rename(PICTURES)


def configuration(sockets: str) -> Path:
    """Writes the daemon's configuration; every demonstration is a run of its own."""
    state = HERE / "state"
    shutil.rmtree(state, ignore_errors=True)
    config = HERE / "forebay.toml"
    names = {"pictures": PICTURES, "state": state, "sockets": sockets, "epochs": EPOCHS, "trainers": TRAINERS}
    config.write_text(CONFIG.format(**names))
    return config


class Daemon:
    """A `forebay serve` that answers, until the end of the block."""

    def __init__(self, config: Path, sockets: str) -> None:
        self.sockets = sockets
        self._command = [FOREBAY, "serve", "--config", config]
        self._log = HERE / "serve.log"
        self._log.unlink(missing_ok=True)

    def __enter__(self) -> Daemon:
        with self._log.open("a") as output:
            self._process = start(self._command, stdout=output, stderr=output)
        status = [FOREBAY, "status", "--wait=1s", "--socket-dir", self.sockets]
        while subprocess.run(status, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            if self._process.poll() is not None:
                sys.exit(f"demo: forebay serve has ended:\n{self._log.read_text()}")
        return self

    def __exit__(self, *_exception: object) -> None:
        self._process.terminate()
        self._process.wait()

    def crash(self) -> None:
        """Ends it as a crash would, and starts it again."""
        self._process.kill()
        self._process.wait()
        self.__enter__()

    def audit(self) -> str:
        """What `forebay audit` says of the stream."""
        command = [FOREBAY, "audit", "demo", "--socket-dir", self.sockets]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def delivered(self) -> int:
        """Records that trainers have acknowledged so far."""
        return sum(int(count) for count in re.findall(r"(\d+) delivered", self.audit()))


def train(daemon: Daemon) -> tuple[list[dict], int | None]:
    """Two trainers share the stream: each record goes to one of them. In the middle the daemon is killed.

    Gives the trainers' reports, and how many records were delivered at the kill; None where training was over before.
    """
    reports = [HERE / f"trainer-{number}.json" for number in range(TRAINERS)]
    socket = str(Path(daemon.sockets) / "forebay.sock")
    command = [sys.executable, ROOT / "examples" / "train.py", "stream:demo"]
    command += ["--socket", socket, "--epochs", str(EPOCHS), "--report"]
    trainers = [start([*command, report]) for report in reports]
    try:
        killed_at = None
        while killed_at is None and any(trainer.poll() is None for trainer in trainers):
            delivered = daemon.delivered()
            if delivered > COUNT // 2:
                daemon.crash()
                killed_at = delivered
        codes = [trainer.wait() for trainer in trainers]
        if any(codes):
            sys.exit(f"demo: a trainer has failed; the daemon's log is {HERE / 'serve.log'}")
    finally:
        for trainer in trainers:
            trainer.kill()
            trainer.wait()
    return [json.loads(report.read_text()) for report in reports], killed_at


def start(command: list, **streams: object) -> subprocess.Popen:
    """A process that is gone with this one, also when this one is killed."""

    def die_with_parent() -> None:
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)

    return subprocess.Popen([str(word) for word in command], preexec_fn=die_with_parent, **streams)


def summary(reports: list[dict], killed_at: int | None, audit: str) -> None:
    """What happened, in a few lines."""
    records = sum(report["records"] for report in reports)
    batches = sum(report["batches"] for report in reports)
    seconds = max(report["ended"] for report in reports) - min(report["began"] for report in reports)
    losses = [" -> ".join(f"{loss:.2f}" for loss in report["losses"] if loss is not None) for report in reports]
    # Below a line with the stream's name.
    audit_lines = "\n             ".join(line.strip() for line in audit.splitlines()[1:])
    crash = (
        "training was over too soon for one" if killed_at is None else f"kill -9 after {killed_at} records, and again"
    )
    print(f"""
  pictures   {COUNT} in {CLASSES} classes, {EPOCHS} epochs, {TRAINERS} trainers
  loss       {"; ".join(losses)}
  delivered  {records} records in {batches} batches
  crash      of the daemon: {crash}
  speed      {records / seconds:.0f} pictures/s, training included
  preview    {PREVIEW.name}
  audit      {audit_lines}""")


if __name__ == "__main__":
    main()
