"""The tests of the lanes on this machine's GPUs, by the release binary."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from gpu.forebay import Forebay, many
from gpu.report import Results

SANITIZER = "compute-sanitizer"
# Of each command under the sanitizer, in seconds: kernels take many times as long.
LIMIT = 200
# Its exit code where it has found something.
FOUND = 99


def run(forebay: Forebay, results: Results) -> None:
    """A row for each test; one that fails fails the measurement. GPU_REQUIRED=1 makes a missing lane a failure."""
    done = subprocess.run([forebay.binary, "doctor", "--self-test"], capture_output=True, text=True, timeout=480)
    rows = re.findall(r"^test (GPU \d+ [\w-]+): (.*)$", done.stdout, re.M)
    results.table("tests", [{"lane": lane, "outcome": outcome} for lane, outcome in rows])
    if done.returncode != 0:
        results.failed("tests", done.stderr.strip())
    elif not rows:
        results.failed("tests", "no test was run")


def sanitized(forebay: Forebay, pictures: list[Path], results: Results) -> None:
    """The same tests, and batches made on the GPU, under compute-sanitizer, where it is on PATH."""
    tool = shutil.which(SANITIZER)
    if tool is None:
        results.absent("compute_sanitizer", f"{SANITIZER} is not on PATH")
        return
    rows = []
    with many(pictures, len(pictures)) as folder:
        bench = ["bench", str(folder), "--lanes", "hardware,hybrid", "--seconds", "5", "--batch-size", "32"]
        for command in (["doctor", "--self-test"], bench):
            whole = [tool, "--target-processes", "all", "--error-exitcode", str(FOUND), forebay.binary, *command]
            said, code = _ended(whole)
            if code is None:
                results.absent("compute_sanitizer", f"forebay {command[0]} took more than {LIMIT} s under it")
                continue
            told = re.findall(r"^=+ (.*SUMMARY.*)$", said, re.M)
            rows.append({"tool": "memcheck", "command": command[0], "code": code, "told": told})
            if code == FOUND:
                results.failed("compute_sanitizer", f"forebay {command[0]}: {said[-2000:]}")
            elif code != 0:
                results.absent("compute_sanitizer", f"forebay {command[0]} did not run under it: {said[-2000:]}")
    results.table("compute_sanitizer", rows)


def _ended(command: list[str | Path]) -> tuple[str, int | None]:
    """What a command says, and its exit code; none where it took too long and was killed with its children."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            return process.communicate(timeout=LIMIT)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "", None
