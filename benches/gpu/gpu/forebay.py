"""The release binary, and the pictures that everything is measured on."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measuring.pictures import pictures

ROOT = Path(__file__).resolve().parents[3]
COUNT = 300
# Files of a folder in which few pictures stand again and again.
ENTRIES = 50_000


class MissingError(Exception):
    """The binary is not there."""


@dataclass(frozen=True)
class Forebay:
    """The binary."""

    binary: Path

    @classmethod
    def found(cls) -> Forebay:
        """The one that FOREBAY_BIN names, or the one that cargo has built."""
        binary = Path(os.environ.get("FOREBAY_BIN", ROOT / "target" / "release" / "forebay")).absolute()
        if not binary.exists():
            raise MissingError(f"{binary} is not there: `cargo build --release -p forebay`, or set FOREBAY_BIN.")
        return cls(binary)

    def says(self, *arguments: str, timeout: float = 120) -> str:
        """What a command prints; an error with what it said on stderr if it fails."""
        done = subprocess.run([self.binary, *arguments], capture_output=True, text=True, timeout=timeout)
        if done.returncode != 0:
            raise RuntimeError(f"forebay {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def lines(self, *arguments: str, timeout: float) -> Iterator[str]:
        """What a command prints, line by line as it comes; an error at the end if it fails or takes longer."""
        with tempfile.TemporaryFile("w+") as said:
            command = [self.binary, *arguments]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as process:
                ending = threading.Timer(timeout, process.kill)
                ending.start()
                try:
                    assert process.stdout is not None
                    yield from process.stdout
                    process.wait()
                finally:
                    late = not ending.is_alive()
                    ending.cancel()
                    process.kill()
            said.seek(0)
            if late:
                raise RuntimeError(f"forebay {' '.join(arguments)} took more than {timeout:.0f} s")
            if process.returncode != 0:
                raise RuntimeError(f"forebay {' '.join(arguments)}: {said.read().strip()}")

    @contextlib.contextmanager
    def pictures(self, given: Path | None) -> Iterator[list[Path]]:
        """The given pictures, or generated ones, which go with the measurement."""
        if given is not None:
            found = pictures(given)
            if not found:
                raise MissingError(f"{given} has no JPEGs.")
            yield found[:COUNT]
            return
        with tempfile.TemporaryDirectory(prefix="forebay-gpu-") as folder:
            target = Path(folder) / "pictures"
            self.says("sample", str(target), "--count", str(COUNT))
            yield sorted(target.rglob("*.jpg"))


@contextlib.contextmanager
def many(pictures: list[Path], entries: int) -> Iterator[Path]:
    """A folder in memory in which the pictures stand again and again, by hard links."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="forebay-gpu-", dir=memory if memory.is_dir() else None) as folder:
        originals = Path(folder) / "originals"
        target = Path(folder) / "many"
        originals.mkdir()
        target.mkdir()
        for number, picture in enumerate(pictures):
            (originals / f"{number}.jpg").write_bytes(picture.read_bytes())
        for number in range(entries):
            os.link(originals / f"{number % len(pictures)}.jpg", target / f"{number:06}.jpg")
        yield target
