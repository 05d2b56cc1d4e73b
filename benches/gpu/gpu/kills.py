"""Trainer and daemon killed while they hold a GPU ring: every record still comes, and the memory goes back."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import time
from typing import Any

from gpu import memory
from gpu.forebay import many
from gpu.results import AbsentError
from gpu.service import Service, serving
from gpu.task import Task

BATCH, BATCHES = 64, 40
STREAM = """\
[streams.kills]
source = "{source}"
batch_size = {batch}
size = 224
dtype = "float32"
shuffle = true
epochs = 1
run = "kills"
placement = "gpu:0"
"""
# What nvJPEG, the driver and other processes may take meanwhile; a ring of six slots is 220 MiB.
SLACK = 100
# The driver takes memory back after the process has gone.
PATIENCE = 20


class Trainer:
    """A process with a Loader, which takes a batch when it is told to."""

    def __init__(self, service: Service) -> None:
        command = [sys.executable, "-m", "gpu.trainer", "stream:kills", str(service.socket), "gpu:0"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        # Python looks for modules in the working directory, and one of this folder is called forebay.
        self.process = subprocess.Popen(command, cwd=service.socket.parent, **pipes)
        if self.hear() != "gpu:0":
            raise RuntimeError("the trainer was given no GPU ring")

    def hear(self) -> Any:  # noqa: ANN401 - whatever it prints
        """What it prints next."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the trainer has ended with {self.process.wait()}")
        return json.loads(line)

    def take(self) -> list[int] | None:
        """Records of the next batch, which it then holds, and None at the epoch's end."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.hear()

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()

    def end(self) -> list[str]:
        """Lets it end, and gives what went wrong."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        return [f"the other trainer has ended with {code}"] if code else []

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def run(task: Task) -> None:
    """Figures of memory at each step; what is lost, left or broken fails the part."""
    results = task.results
    with results.attempt("kills", seconds=180):
        if importlib.util.find_spec("forebay") is None:
            raise AbsentError("this Python has no forebay; FOREBAY_PYTHON names one that has the wheel")
        steps: list[dict[str, Any]] = [{"when": "before the daemon", "gpu_mib": memory.of_gpu()}]
        if steps[0]["gpu_mib"] is None:
            results.absent("memory after kills", "nvidia-smi, which counts it, is not there")
        try:
            wrong = _story(task, steps)
        except Exception as error:  # Whatever a process raises is what a kill has broken.
            wrong = [f"{type(error).__name__}: {error}"]
        results.table("kills", steps)
        if wrong:
            results.failed("kills", "; ".join(wrong))


def _story(task: Task, steps: list[dict[str, Any]]) -> list[str]:
    """Two trainers, of which one is killed and then the daemon. Gives what went wrong."""
    wrong = []

    def look(when: str, before: int | None = None) -> int | None:
        """What is taken of the GPU, once that is no more than before."""
        used, until = memory.of_gpu(), time.monotonic() + PATIENCE
        while None not in (used, before) and used > before + SLACK and time.monotonic() < until:
            time.sleep(0.5)
            used = memory.of_gpu()
        steps.append({"when": when, "gpu_mib": used})
        if None not in (used, before) and used > before + SLACK:
            wrong.append(f"{when}, {used} MiB of the GPU are taken, and {before} were before")
        return used

    with (
        many(task.pictures, BATCH * BATCHES) as source,
        serving(task.forebay, STREAM.format(source=source, batch=BATCH), task.found.together) as service,
    ):
        with Trainer(service) as other:
            seen = other.take()
            alone = look("with one trainer")
            with Trainer(service) as killed:
                # The first is acknowledged as the second is taken, which it dies with.
                acked, held = killed.take(), killed.take()
                look("with two trainers")
                killed.kill()
            seen += other.take()
            look("after the killed trainer", alone)
            service.kill()
            service.start()
            while (records := other.take()) is not None:
                seen += records
            look("after the killed daemon, with the next one", alone)
            audit, ring = other.hear(), _ring(service)
            wrong += other.end()
        steps.append({"when": "at the end", "audit": audit, "ring": ring, "twice": len(seen) - len(set(seen))})
        if set(seen) | set(acked) != set(range(BATCH * BATCHES)):
            wrong.append(f"{BATCH * BATCHES - len(set(seen) | set(acked))} records did not come")
        if not set(held) <= set(seen):
            wrong.append("what the killed trainer held did not come again")
        if not audit["adds_up"]:
            wrong.append(f"the audit does not add up: {audit}")
        if not ring.startswith("pixels in gpu"):
            wrong.append(f"the ring of the next daemon is not the GPU's: {ring}")
        if code := service.end():
            wrong.append(f"the daemon has ended with {code}: {service.said().strip().splitlines()[-1]}")
    look("after the daemon", steps[0]["gpu_mib"])
    try:
        task.forebay.says("doctor", "--self-test")
    except RuntimeError as error:
        wrong.append(f"the GPU does not pass its tests any more: {error}")
    return wrong


def _ring(service: Service) -> str:
    """Where the daemon has the pixels."""
    found = re.search(r"^  ring +(.*)$", service.status(), re.M)
    return found.group(1) if found else "not told"
