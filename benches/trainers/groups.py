"""The processor time of a stream that gives every batch to several trainers, beside that of one trainer."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import forebay
from service import STREAM, served, wait_for

ROUNDS, MANY, EPOCHS = 3, 8, 2
GOAL = 1.1


def table(folder: Path, place: Path) -> None:
    """Prints the processor time of both in turn."""
    print(
        f'milliseconds of processor time for a batch, of the daemon and all trainers, groups = "each", {ROUNDS} rounds'
    )
    print(f"{'one trainer':>14}{f'{MANY} trainers':>14}{'ratio':>10}{'goal, below':>14}", flush=True)
    ratios = []
    for _ in range(ROUNDS):
        one, many = (cost(folder, place, trainers) for trainers in (1, MANY))
        ratios.append(many / one)
        print(f"{one * 1e3:14.1f}{many * 1e3:14.1f}{ratios[-1]:10.3f}{GOAL:14}", flush=True)
    print(f"{'median':>28}{statistics.median(ratios):10.3f}{GOAL:14}\n", flush=True)


def cost(folder: Path, place: Path, trainers: int) -> float:
    """Seconds of processor time for each batch that the daemon makes."""
    with served(folder, place, f'epochs = {EPOCHS}\ngroups = "each"') as (daemon, socket):
        command = [sys.executable, __file__, str(socket)]
        running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(trainers)]
        try:
            for trainer in running:
                # It is attached.
                trainer.stdout.readline()
            before = processor_time(daemon.pid)
            for trainer in running:
                trainer.stdin.write(b"go\n")
                trainer.stdin.flush()
            said = [trainer.stdout.readline().split() for trainer in running]
            taken = processor_time(daemon.pid) - before
            return (taken + sum(float(seconds) for seconds, _ in said)) / max(int(batches) for _, batches in said)
        finally:
            for trainer in running:
                trainer.kill()
                trainer.wait()


def processor_time(pid: int) -> float:
    """Seconds that a process has used, in user code and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def train(socket: str) -> None:
    """A trainer: says that it is attached, waits for a word, and then how much time its epochs took."""
    wait_for(socket)
    with forebay.Loader(f"stream:{STREAM}", socket=socket) as loader:
        print("attached", flush=True)
        sys.stdin.readline()
        began, batches = time.process_time(), 0
        for _ in range(EPOCHS):
            for batch in loader:
                batches += 1
                assert batch.images.shape[1:] == (224, 224, 3)
        print(time.process_time() - began, batches, flush=True)
        # The others are still counted.
        sys.stdin.readline()


if __name__ == "__main__":
    train(sys.argv[1])
