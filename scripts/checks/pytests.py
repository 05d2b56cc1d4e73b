"""pytest, several workers at a time, with the times of its tests."""

from __future__ import annotations

import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from checks.failures import FAILURES
from checks.output import say
from checks.slowest import SLOWEST
from checks.tally import ROOT, Tally, counted, lines_of

VENV = ROOT / ".venv" / "bin"


def with_venv() -> str:
    """PATH with .venv first, where the wheel's `forebay` is."""
    return f"{VENV}:{os.environ['PATH']}"


def run(*arguments: str | Path, python: Path = VENV / "python", **extra: str) -> Tally:
    """Runs pytest with an interpreter, and adds up its tests."""
    # The folders of tests are below this one, and a path of a socket in them may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="fb-") as folder:
        report = Path(folder) / "report.xml"
        options = ("-q", "--no-header", "-rs", "-p", "no:cacheprovider")
        command = (python, "-m", "pytest", *options, f"--basetemp={folder}/t", f"--junitxml={report}")
        environment = {"PATH": with_venv(), **extra}
        tally = counted(lines_of(*command, *arguments, **environment), _read)
        _take_report(report)
    return tally


def _read(line: str) -> Tally:
    """Reads pytest's last line, such as `2 failed, 31 passed, 1 skipped in 5.02s`."""
    say(line, end="")
    if not re.search(r"\d+ \w+.* in [\d.]+s", line):
        return Tally()
    found = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
    failed = sum(found.get(word, 0) for word in ("failed", "error", "errors"))
    return Tally(found.get("passed", 0) + found.get("xfailed", 0), failed, found.get("skipped", 0))


def _take_report(report: Path) -> None:
    # Without a report, pytest did not get as far as a test, and its status says so.
    if not report.is_file():
        return
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.get("classname", "").rpartition(".")[2]
        test = f"{module}.py {case.get('name')}"
        SLOWEST.add(float(case.get("time", 0)), test)
        for failure in [*case.findall("failure"), *case.findall("error")]:
            FAILURES.add(test, (failure.text or "").splitlines())
