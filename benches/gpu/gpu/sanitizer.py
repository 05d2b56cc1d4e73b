"""The tests on the GPU, and batches made there, under compute-sanitizer's memcheck and initcheck."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from gpu.forebay import many
from gpu.task import Task

NAME = "compute-sanitizer"
TOOLKIT = "/usr/local/cuda/bin"
# Of each command under a tool, in seconds: kernels take many times as long.
LIMIT = 130
# Its exit code where it has found something.
FOUND = 99
# nvJPEG's calls that fail on purpose, and its kernels, are not ours to judge.
OPTIONS = ("--target-processes", "all", "--report-api-errors", "no", "--kernel-name", "kns=forebay_compose")


def run(task: Task) -> None:
    """A row for each tool and command."""
    results = task.results
    tool = shutil.which(NAME, path=f"{os.environ.get('PATH', '')}:{TOOLKIT}")
    if tool is None:
        results.absent("compute_sanitizer", f"{NAME} is not on PATH, nor in {TOOLKIT}")
        results.write()
        return
    rows = []
    with many(task.pictures, len(task.pictures)) as folder:
        lanes = ",".join(lane for lane in ("hardware", "hybrid") if lane in task.found.lanes)
        bench = ["bench", str(folder), "--lanes", lanes, "--seconds", "3", "--batch-size", "32"]
        # What engines and nvJPEG's kernels write is not known to initcheck: it looks at the kernel on copied memory.
        checks = [("memcheck", bench), ("initcheck", ["doctor", "--kernel"]), ("memcheck", ["doctor", "--self-test"])]
        for check, command in checks:
            code = None
            with results.attempt("compute_sanitizer", LIMIT + 20):
                whole = [tool, "--tool", check, *OPTIONS, "--error-exitcode", str(FOUND), task.forebay.binary, *command]
                said, code = _ended(whole)
                if code is None:
                    told = f"took more than {LIMIT} s and was ended"
                elif code not in (0, FOUND):
                    told = f"did not run: {said[-500:]}"
                else:
                    told = "; ".join(re.findall(r"^=+ (.*SUMMARY.*)$", said, re.M))
                rows.append({"tool": check, "command": command[0], "code": code, "told": told})
                results.table("compute_sanitizer", rows)
            if code == FOUND:
                results.failed(f"{check} of {command[0]}", said[-2000:])
    if all(row["code"] not in (0, FOUND) for row in rows):
        results.absent("compute_sanitizer", "; ".join(row["told"] for row in rows))
    results.write()


def _ended(command: list[str | Path]) -> tuple[str, int | None]:
    """What a command says, and its exit code; none where it took too long and was killed with its children."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            return process.communicate(timeout=LIMIT)[0], process.returncode
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return "", None
            raise
