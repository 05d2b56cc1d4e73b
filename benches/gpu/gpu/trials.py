"""The tests of the lanes on this machine's GPUs, by the release binary."""

from __future__ import annotations

import re
import subprocess

from gpu.forebay import Forebay
from gpu.report import Results


def run(forebay: Forebay, results: Results) -> None:
    """A row for each test; one that fails fails the measurement. GPU_REQUIRED=1 makes a missing lane a failure."""
    done = subprocess.run([forebay.binary, "doctor", "--self-test"], capture_output=True, text=True, timeout=480)
    rows = re.findall(r"^test (GPU \d+ [\w-]+): (.*)$", done.stdout, re.M)
    results.table("tests", [{"lane": lane, "outcome": outcome} for lane, outcome in rows])
    if done.returncode != 0:
        results.failed("tests", done.stderr.strip())
    elif not rows:
        results.failed("tests", "no test was run")
