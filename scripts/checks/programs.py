"""The test programs of Rust: built once, then run several at a time.

`cargo test` runs one program after another, and many of them leave a core idle: those that start daemons wait most of
the time. So the programs are built by cargo and run from here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from checks.failures import FAILURES
from checks.output import in_one_block, say
from checks.slowest import SLOWEST
from checks.tally import ROOT, Tally, counted, lines_of

CARGO_TEST = ("cargo", "test", "--workspace", "--locked")
# Those that run longest are started first, so that no long one is left for the end.
LONGEST = ("service", "forebay_formats", "ledger")


class Program(NamedTuple):
    """A test program, and the folder of its package."""

    name: str
    package: Path
    file: Path

    def title(self) -> str:
        """What it is called, such as `formats sources`."""
        return f"{self.package.relative_to(ROOT)} {self.name}"


def build() -> tuple[Tally, list[Program]]:
    """Compiles all test programs of the workspace."""
    command = (*CARGO_TEST, "--no-run", "--message-format=json-render-diagnostics")
    programs = []

    def read(line: str) -> Tally:
        if not line.startswith("{"):
            say(line, end="")
        elif program := _program(json.loads(line)):
            programs.append(program)
        return Tally()

    tally = counted(lines_of(*command), read)
    return tally, sorted(programs, key=_order)


def _program(message: dict) -> Program | None:
    if message["reason"] != "compiler-artifact" or not message["executable"] or not message["profile"]["test"]:
        return None
    manifest = Path(message["manifest_path"])
    return Program(message["target"]["name"], manifest.parent, Path(message["executable"]))


def _order(program: Program) -> tuple[int, str]:
    rank = LONGEST.index(program.name) if program.name in LONGEST else len(LONGEST)
    return rank, program.title()


def run(programs: list[Program], at_once: int, **extra: str) -> Tally:
    """Runs them, so many at a time, and prints the output of each as one block."""
    with ThreadPoolExecutor(at_once) as pool:
        return sum(pool.map(lambda program: _run_one(program, **extra), programs), Tally())


def _run_one(program: Program, **extra: str) -> Tally:
    with in_one_block():
        say(f"-- {program.title()}")
        return counted(_lines(program, **extra), TestOutput(program.title()).read)


def _lines(program: Program, **extra: str) -> Iterator[str]:
    # The times of single tests are an option that the test harness of a stable toolchain has only with this variable.
    # It is set for the programs alone: for rustc, it would change what is compiled.
    times = {"RUSTC_BOOTSTRAP": "1", "CARGO_MANIFEST_DIR": str(program.package)}
    command = (program.file, "--show-output", "-Z", "unstable-options", "--report-time")
    return lines_of(*command, cwd=program.package, LD_LIBRARY_PATH=_library_path(), **times, **extra)


def _library_path() -> str:
    """Where test programs find shared libraries of the build and of the toolchain."""
    if not _LIBRARIES:
        print_root = ("rustc", "--print", "sysroot")
        sysroot = subprocess.run(print_root, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        _LIBRARIES.append(f"{target}/debug/deps:{target}/debug:{sysroot}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}")
    return _LIBRARIES[0]


_LIBRARIES: list[str] = []


def documentation_tests() -> Tally:
    """The examples in the documentation of the crates."""
    command = (*CARGO_TEST, "--doc", "--no-fail-fast", "--", "--show-output")
    with in_one_block():
        say("-- examples in the documentation")
        return counted(lines_of(*command), TestOutput("documentation").read)


class TestOutput:
    """Reads what a test program prints with `--show-output`: hides what is well, shows what tests have to say."""

    RESULT = re.compile(r"test result: .* (\d+) passed; (\d+) failed; (\d+) ignored")
    TIMED = re.compile(r"test (\S+)(?: - should panic)? \.\.\. \w+ <([\d.]+)s>")
    DULL = re.compile(r"(test .* ok( <[\d.]+s>)?|successes:|running \d+ tests?|    [\w:]+|    \S+ - .*\(line \d+\)|)$")

    def __init__(self, program: str) -> None:
        self.program = program
        self.skips: set[str] = set()
        self.section = ""
        self.failing = False
        self.failed: dict[str, list[str]] = {}

    def read(self, line: str) -> Tally:
        """Takes one line."""
        line = line.rstrip("\n")
        if section := re.match(r"---- (.+) stdout ----$", line):
            self.section = section[1]
            return Tally()
        # The first such line is before what failed tests printed, the second before their names.
        if line == "failures:":
            self.failing, self.section = not self.failing and not self.failed, ""
        elif self.failing and self.section:
            self.failed.setdefault(self.section, []).append(line)
        if timed := self.TIMED.match(line):
            SLOWEST.add(float(timed[2]), f"{self.program} {timed[1]}")
        if result := self.RESULT.match(line):
            passed, failed, ignored = map(int, result.groups())
            skipped = len(self.skips)
            self.skips.clear()
            for test, lines in self.failed.items():
                FAILURES.add(f"{self.program} {test}", lines)
            self.failing, self.failed = False, {}
            say(f"    {passed - skipped} passed, {failed} failed, {ignored + skipped} skipped")
            return Tally(passed - skipped, failed, ignored + skipped)
        if line.startswith("skipped: "):
            self.skips.add(self.section)
        if not self.DULL.match(line):
            say(line)
        return Tally()
