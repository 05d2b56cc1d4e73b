"""Prints what it costs to hand batches of 256 x 224 x 224 x 3 bytes to trainers, with the goals."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import calls
import copies
import groups
from forebay import _command
from measuring.machine import cores_and_load


def main() -> None:
    """Prints the three tables."""
    with tempfile.TemporaryDirectory() as folder:
        ready, photographs = Path(folder) / "ready", Path(folder) / "photographs"
        # Of their final size and not compressed: reading them takes so little that the ring is always ahead.
        ready.mkdir()
        for number in range(2 * calls.PLACES):
            pixels = os.urandom(calls.SIDE) * calls.SIDE * 3
            (ready / f"{number:04}.ppm").write_bytes(b"P6 %d %d 255\n" % (calls.SIDE, calls.SIDE) + pixels)
        sample = [_command.binary(), "sample", photographs, "--count", "2048"]
        subprocess.run(sample, check=True, stdout=subprocess.DEVNULL)
        print(f"{cores_and_load()}\n", flush=True)
        calls.table(ready)
        groups.table(photographs, Path(folder))
        copies.table(ready, Path(folder))


if __name__ == "__main__":
    main()
