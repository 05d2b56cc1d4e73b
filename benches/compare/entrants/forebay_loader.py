"""This project: `forebay.Loader` over the list of files, with a daemon of its own, or with one that is configured."""

from __future__ import annotations

import json
import os
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
from forebay import recipes, transforms

# The pipelines of the works with functions in Python.
FUNCTIONS = {"python": "WHOLE", "python-after-crop": "COLOURS"}


def batches(job: stopwatch.Job) -> Iterator[list[np.ndarray]]:
    """The ring's memory: an array for each view of the pictures."""
    settings = {
        "batch_size": job.batch,
        "shuffle": job.task != "eval",
        "num_threads": job.threads,
        **recipe(job.task),
        **job.options,
    }
    views = ("images", *settings.get("views", ()))
    decode = {key: settings.pop(key) for key in ("jpeg", "seek") if key in settings}
    loader = of_stream(job.files, decode, settings) if decode else forebay.Loader(job.files, **settings)
    with loader:
        while True:
            for batch in loader:
                yield [batch[view] for view in views]


def recipe(task: str) -> dict[str, object]:
    """The settings of a task's transforms: a recipe's own lists, which end before they normalise."""
    if task in ("train", "eval"):
        return {"size": stopwatch.SIZE}
    if task in FUNCTIONS:
        side = stopwatch.SIZE
        cropped = [transforms.RandomResizedCrop(side), transforms.RandomHorizontalFlip()]
        name = f"functions:{task.replace('-', '_')}"
        function = transforms.Python(name, output=side, seeded=[f"functions:{FUNCTIONS[task]}"])
        steps = [*(cropped if task == "python-after-crop" else []), function]
        # A stream of a configuration has its settings, and a process for functions on each core.
        return {"transform": [step.to_settings() for step in steps], "python_workers": len(os.sched_getaffinity(0))}
    lists = {
        "trivial": lambda: {"images": recipes.torchvision_train(auto_augment="ta_wide", random_erase_prob=0.1)},
        "simclr": lambda: {"images": recipes.simclr()["images"]},
        "dinov2": recipes.dinov2,
    }[task]()
    views = {
        view: {"transform": [step.to_settings() for step in steps if not isinstance(step, transforms.Normalize)]}
        for view, steps in lists.items()
    }
    images = views.pop("images")
    return {**images, "views": views} if views else images


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
        "sources": {"python": [str(Path(__file__).parent)]},
        "streams.compare": {"source": str(folder / "files.txt"), **settings},
    }
    lines = [
        line
        for table, keys in tables.items()
        for line in (f"[{table}]", *(f"{key} = {toml(value)}" for key, value in keys.items()))
    ]
    (folder / "forebay.toml").write_text("\n".join(lines) + "\n")
    programs = Path(sys.executable).parent
    command = [str(programs / "forebay"), "serve", "--config", str(folder / "forebay.toml")]
    # Functions are called by the Python of this environment.
    found = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    # It outlives this process, whose output is read to its end.
    silent = subprocess.DEVNULL
    daemon = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, env=found)
    socket = folder / "forebay.sock"
    while not socket.exists():
        if daemon.poll() is not None:
            raise SystemExit(f"the daemon ended with status {daemon.returncode}")
        time.sleep(0.05)
    return forebay.Loader("compare", socket=socket)


def toml(value: object) -> str:
    """A value of the configuration. What JSON makes of text, numbers and truth is TOML as well."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


stopwatch.run(batches)
