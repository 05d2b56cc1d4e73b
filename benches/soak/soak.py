"""Reads epochs of a small set for some seconds: memory, descriptors and threads of trainer and daemon must not grow.

Usage: soak.py SECONDS      (benches/soak/run, `make soak SECONDS=3600`)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import forebay
from growth import Held, growth, held

RECORDS, LOOKS = 300, 240


def daemon() -> int:
    """The process that the Loader started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    found = [int(child) for child in children if Path(f"/proc/{child}/comm").read_text().strip() == "forebay"]
    (pid,) = found or sys.exit("soak.py: this kernel does not tell the daemon among this process's children")
    return pid


def soak(folder: Path, seconds: float) -> dict[str, list[Held]]:
    """Reads epochs, and looks at the trainer and the daemon between some of them."""
    looks: dict[str, list[Held]] = {"trainer": [], "daemon": []}
    begun, epochs = time.monotonic(), 0
    with forebay.Loader(str(folder), batch_size=32, size=96, shuffle=True, seed=1) as loader:
        while (passed := time.monotonic() - begun) < seconds:
            records = sorted(record for batch in loader for record in batch.records[: batch.valid].tolist())
            if records != list(range(RECORDS)):
                sys.exit(f"soak.py: epoch {epochs} does not have each record once")
            epochs += 1
            if passed >= len(looks["daemon"]) * seconds / LOOKS:
                looks["trainer"].append(held(os.getpid()))
                looks["daemon"].append(held(daemon()))
        audits = loader.audit()
    wrong = [audit for audit in audits if not (audit.complete and audit.adds_up)]
    if wrong or len(audits) != epochs:
        sys.exit(f"soak.py: of {epochs} epochs, the audit has {len(audits)}, and these do not add up: {wrong[:3]}")
    print(f"{epochs} epochs of {RECORDS} records in {seconds:.0f} s")
    return looks


def main(seconds: float) -> int:
    """Runs it, and prints what was held at the beginning and at the end."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "pictures")
        sample = (
            "forebay",
            "sample",
            folder,
            "--count",
            str(RECORDS),
            "--classes",
            "3",
            "--width",
            "160",
            "--height",
            "120",
        )
        subprocess.run([Path(sys.executable).with_name(sample[0]), *sample[1:]], check=True, stdout=subprocess.DEVNULL)
        looks = soak(folder, seconds)
    grown = []
    for name, seen in looks.items():
        for at, label in ((0, "first"), (len(seen) // 2, "half-way"), (-1, "last")):
            memory, descriptors, threads = seen[at]
            print(f"{name:8} {label:9} {memory / 2**20:8.1f} MiB {descriptors:5} descriptors {threads:4} threads")
        grown += [f"{name}: {line}" for line in growth(seen)]
    for line in grown:
        print(f"failed: {line}")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
