"""This project: `forebay.Loader` over the list of files, with a daemon of its own, or with one that is configured."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import forebay
import numpy as np
import stopwatch


def batches(job: stopwatch.Job) -> Iterator[np.ndarray]:
    """Views on the ring."""
    settings = {
        "batch_size": job.batch,
        "size": stopwatch.SIZE,
        "shuffle": job.task == "train",
        "num_threads": job.threads,
        **job.options,
    }
    decode = {key: settings.pop(key) for key in ("jpeg", "seek") if key in settings}
    loader = of_stream(job.files, decode, settings) if decode else forebay.Loader(job.files, **settings)
    with loader:
        while True:
            for batch in loader:
                yield batch.images


def of_stream(files: list[str], decode: dict[str, str], settings: dict[str, object]) -> forebay.Loader:
    """On a stream of a daemon that decodes so, which a Loader cannot ask of its own one.

    Its ledger is in memory, as a daemon's of a Loader's own is.
    """
    # The next round's daemon removes what this one leaves: the process is ended without clean-up.
    for left in Path("/dev/shm").glob("forebay-compare-*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix="forebay-compare-", dir="/dev/shm"))
    (folder / "files.txt").write_text("".join(f"{Path(file).resolve()}\n" for file in files))
    tables = {
        "decode": decode,
        "control": {"dir": str(folder)},
        "coordinator": {"path": str(folder)},
        "streams.compare": {"source": str(folder / "files.txt"), **settings},
    }
    lines = [
        line
        for table, keys in tables.items()
        # What JSON makes of text, numbers and truth is TOML as well.
        for line in (f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items()))
    ]
    (folder / "forebay.toml").write_text("\n".join(lines) + "\n")
    command = [str(Path(sys.executable).parent / "forebay"), "serve", "--config", str(folder / "forebay.toml")]
    # It outlives this process, whose output is read to its end.
    silent = subprocess.DEVNULL
    daemon = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)
    socket = folder / "forebay.sock"
    while not socket.exists():
        if daemon.poll() is not None:
            raise SystemExit(f"the daemon ended with status {daemon.returncode}")
        time.sleep(0.05)
    return forebay.Loader("compare", socket=socket)


stopwatch.run(batches)
