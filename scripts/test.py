"""Runs every check and test, or those that are named, and ends with one line that adds them up.

A check (formatting, a lint, a document) counts as one test. A Rust test that prints a line `skipped: REASON` counts as
skipped. A failure does not keep the rest from running; the exit status tells. Stages that mostly wait run side by side.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple

from checks import arm, programs, pytests
from checks.failures import FAILURES
from checks.output import in_one_block, say
from checks.programs import CARGO_TEST, TestOutput
from checks.pytests import VENV
from checks.slowest import SLOWEST
from checks.tally import ROOT, Tally, check, counted, lines_of

BINARY = ROOT / "target" / "debug" / "forebay"
C_PREFIX = ROOT / "target" / "c"
FUZZ = ("--manifest-path", "fuzz/Cargo.toml")


def clippy() -> Tally:
    """The workspace and the fuzz targets, which have a manifest of their own."""
    judged = ("-q", "--locked", "--keep-going")
    warnings = ("--", "-D", "warnings")
    workspace = check("cargo", "clippy", "--workspace", "--all-targets", *judged, *warnings)
    # Nothing is linked: where libFuzzer would be is of no account, and it is not compiled, which takes a C++ compiler.
    fuzz = ("cargo", "clippy", *FUZZ, "--target-dir", "target", *judged, *warnings)
    return workspace + check(*fuzz, CUSTOM_LIBFUZZER_PATH="/nowhere/libfuzzer.a")


def rust() -> Tally:
    """Unit, integration and doc tests, the ranks among them."""
    built, found = programs.build()
    if built.failed:
        return built
    nvjpeg = ":".join(map(str, VENV.parent.glob("lib/python3*/site-packages/nvidia/*/lib/libnvjpeg.so.*")))
    python = str(VENV / "python")
    extra = {"FOREBAY_PYTHON": python, "FOREBAY_NVJPEG_FILES": nvjpeg, "PATH": with_etcd()}
    # A snapshot that differs fails its test, and nothing is written.
    extra |= {"INSTA_UPDATE": "no", "INSTA_WORKSPACE_ROOT": str(ROOT)}
    # The same random cases everywhere: who changes nothing breaks nothing. Other cases come with another seed.
    extra |= {"PROPTEST_RNG_SEED": os.environ.get("PROPTEST_RNG_SEED", "1")}
    return programs.run(found, RUST_AT_ONCE, **extra) + programs.documentation_tests()


def wheel() -> Tally:
    """The wheel around the binary that the Rust tests were run with."""
    built = check(*CARGO_TEST, "-q", "--no-run")
    return check("scripts/wheel.sh", "dev", BINARY) if built.passed else built


def pytest(*arguments: str) -> Tally:
    """The Python package's tests, against the wheel in .venv."""
    # The torture has trainers in C and Rust.
    extra = {"FOREBAY_C_PREFIX": str(C_PREFIX), "FOREBAY_EXAMPLES": str(BINARY.parent / "examples")}
    extra |= {"PYTHONPATH": str(libraries("originals")), "FOREBAY_ELASTICDL": str(libraries("elasticdl"))}
    return pytests.run(*arguments, "clients/python/tests", **extra)


def libraries(name: str) -> Path:
    """The folder of the libraries in scripts/NAME.txt. They are installed if the folder does not have them yet.

    Where the package index lacks one, tests that need it are skipped, and say so.
    """
    wanted = (ROOT / "scripts" / f"{name}.txt").read_text()
    folder = ROOT / "target" / name
    stamp = folder / "requirements"
    if stamp.is_file() and stamp.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    pip = (VENV / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input")
    failed = [
        line
        for line in wanted.splitlines()
        if line and not line.startswith("#") and check(*pip, "--no-deps", "--target", folder, line).failed
    ]
    if failed:
        say(f"not installed from the package index: {', '.join(failed)}")
    else:
        stamp.write_text(wanted)
    return folder


def compare() -> Tally:
    """What `make compare`, `make soak` and `benches/recipes/run` make of their figures; nothing is measured."""
    tests = [ROOT / "benches" / name / "tests" for name in ("compare", "measuring", "recipes", "soak")]
    programs = ("compare", "compare/entrants", "measuring", "recipes", "recipes/peers", "soak")
    folders = [ROOT / "benches" / name for name in programs]
    return pytests.run(*tests, PYTHONPATH=":".join(map(str, folders)))


def gpu() -> Tally:
    """Every part of `benches/gpu/run` on the fake GPU, and what it makes of its figures."""
    folders = [ROOT / "benches" / name for name in ("gpu", "measuring")]
    return pytests.run("benches/gpu/tests", PYTHONPATH=":".join(map(str, folders)))


def install_c() -> Tally:
    """The library for C, installed as users have it."""
    return check("scripts/c.sh", "dev", C_PREFIX)


def c() -> Tally:
    """Programs in C and C++ against a real daemon."""
    # Daemons and datasets are those of the Python package's tests.
    extra = {"PYTHONPATH": str(ROOT / "clients" / "python" / "tests"), "FOREBAY_C_PREFIX": str(C_PREFIX)}
    return install_c() + pytests.run("-p", "conftest", "clients/c/tests", **extra)


def torch() -> Tally:
    """Those that need what `make test-torch` installs: PyTorch, and for some mypy. The whole skips them all."""
    return pytest("-k", "torch or test_forgotten or test_typing")


def originals() -> Tally:
    """Those that compare with the libraries that others use in our place."""
    return pytest("-m", "originals")


def tensorflow() -> Tally:
    """Those that need TensorFlow."""
    return beside(
        "tensorflow", ("tensorflow-cpu", "pillow"), "test_tf.py", "test_tf_example.py", "test_torch_and_others.py"
    )


def jax() -> Tally:
    """Those that need JAX, whose CPU plays four devices."""
    return beside("jax", ("jax", "flax", "pillow"), "test_jax.py", "test_jax_example.py", "test_torch_and_others.py")


def beside(name: str, packages: tuple[str, ...], *files: str) -> Tally:
    """Files of tests, with a framework in an environment of its own beside the build: target/NAME."""
    venv = ROOT / "target" / name
    python = venv / "bin" / "python"
    made = Tally() if python.is_file() else check(VENV / "python", "-m", "venv", venv)
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input")
    wheels = sorted((ROOT / "target" / "wheels" / "dev").glob("*.whl"))
    made += check(*pip, "numpy", "pytest", *packages)
    made += check(*pip, "--no-deps", "--force-reinstall", *wheels)
    tests = [f"clients/python/tests/{file}" for file in files]
    return made + pytests.run(*tests, python=python, PATH=f"{venv / 'bin'}:{os.environ['PATH']}")


def paddle() -> Tally:
    """Those that need Paddle."""
    return beside("paddle", ("paddlepaddle", "pillow"), "test_paddle.py")


def ship() -> Tally:
    """What is shipped, as a stranger uses it: packages, images and what else has tests in deploy/tests."""
    return install_c() + pytests.run("deploy/tests", FOREBAY_BINARY=str(BINARY), FOREBAY_C_PREFIX=str(C_PREFIX))


def torture() -> Tally:
    """The one that lasts as long as it is told to."""
    return install_c() + pytest("-k", "whatever_happens")


def chaos() -> Tally:
    """Clusters of real processes in trouble, for as long as it is told to."""
    command = ("cargo", "test", "--locked", "-p", "forebay", "--test", "service", "chaos", "--", "--show-output")
    return counted(lines_of(*command, PATH=with_etcd()), TestOutput("chaos").read)


def simulation() -> Tally:
    """Simulated clusters, in release, with as many seeds as it is told."""
    command = ("cargo", "test", "--release", "--locked", "-p", "forebay-coordinator", "--lib", "simulation")
    return counted(lines_of(*command, "--", "--show-output"), TestOutput("simulation").read)


def model() -> Tally:
    """Random histories of ledgers against a naive model, in release, as many as it is told."""
    command = ("cargo", "test", "--release", "--locked", "-p", "forebay-coordinator", "--test", "ledger", "model::")
    return counted(lines_of(*command), TestOutput("model").read)


def msrv() -> Tally:
    """The workspace with the oldest Rust that Cargo.toml promises, if that is installed: `make msrv` installs it."""
    oldest = re.search(r'^rust-version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    # Only rustup has several toolchains.
    asked = ("rustup", "run", oldest, "cargo", "--version")
    if not shutil.which("rustup") or subprocess.run(asked, capture_output=True).returncode != 0:
        say(f"skipped: Rust {oldest} is not installed; `make msrv` installs it if there is a rustup")
        return Tally(skipped=1)
    # Beside the build, which another compiler has made.
    folder = ("--target-dir", "target/msrv")
    return check("rustup", "run", oldest, "cargo", "check", "-q", "--workspace", "--locked", "--keep-going", *folder)


def ruff() -> Tally:
    """Python's lints and formatting."""
    lint = check(VENV / "ruff", "check", "--no-cache", "-q")
    return lint + check(VENV / "ruff", "format", "--no-cache", "-q", "--check")


def spelling() -> Tally:
    """The spelling of everything; `_typos.toml` has the words to leave alone."""
    return check(VENV / "typos", "--format", "brief")


def documents() -> Tally:
    """Documents that are made from code are current, and the runbook has each alert."""
    return check(VENV / "python", "scripts/settings.py") + pytests.run("deploy/tests/test_runbook.py")


def systemd() -> Tally:
    """What systemd itself says of the units."""
    command = ("scripts/units.sh",)

    def read(line: str) -> Tally:
        say(line, end="")
        return Tally(passed=line.startswith("passed: "), skipped=line.startswith("skipped: "))

    return counted(lines_of(*command), read)


def readme() -> Tally:
    """The README's blocks, each of which is a test."""

    def read(line: str) -> Tally:
        say(line, end="")
        return Tally(*(int(line.startswith(word)) for word in ("passed: ", "failed: ", "skipped: ")))

    elasticdl = str(libraries("elasticdl"))
    command = (VENV / "python", "scripts/readme.py")
    return counted(lines_of(*command, PATH=f"{VENV}:{with_etcd()}", FOREBAY_ELASTICDL=elasticdl), read)


def with_etcd() -> str:
    """PATH with an etcd, which is downloaded if need be. Without one, tests that need it are skipped, and say so."""
    got = subprocess.run([ROOT / "scripts" / "etcd.sh"], capture_output=True, text=True)
    if got.returncode != 0:
        say(f"no etcd: {got.stderr.strip()}")
        return os.environ["PATH"]
    return f"{os.environ['PATH']}:{got.stdout.strip()}"


STAGES: dict[str, Callable[[], Tally]] = {
    "format": lambda: check("cargo", "fmt", "--all", "--check") + check("cargo", "fmt", *FUZZ, "--check"),
    "ruff": ruff,
    "spelling": spelling,
    "clippy": clippy,
    "wheel": wheel,
    "rust": rust,
    "pytest": lambda: install_c() + pytest("-n", PYTEST_WORKERS, "--dist", "worksteal"),
    "c": c,
    "compare": compare,
    "gpu": gpu,
    "neon": arm.neon,
    "rustdoc": lambda: check(
        "cargo", "doc", "-q", "--workspace", "--no-deps", "--locked", "--keep-going", RUSTDOCFLAGS="-D warnings"
    ),
    "documents": documents,
    "systemd": systemd,
    "readme": readme,
}
# In the whole, the stages from `rust` on run in two rows side by side: most of their time, they wait for daemons.
ROWS = (("rust",), ("pytest", "c", "compare", "gpu", "neon", "rustdoc", "documents", "systemd", "readme"))
CORES = len(os.sched_getaffinity(0))
# As many as keep the cores busy while others wait.
RUST_AT_ONCE = CORES
PYTEST_WORKERS = str(CORES + 1)
# Not in the whole: PyTorch, TensorFlow, JAX and Paddle are large. So are the Debian and the images that show what is
# shipped. Short forms of the others are in there. For the oldest Rust, and for `arm`, all is compiled again.
ASKED_FOR = {
    "torch": torch,
    "originals": originals,
    "tensorflow": tensorflow,
    "jax": jax,
    "paddle": paddle,
    "ship": ship,
    "arm": lambda: arm.whole(BINARY),
    "torture": torture,
    "chaos": chaos,
    "simulation": simulation,
    "model": model,
    "msrv": msrv,
}


class Row(NamedTuple):
    """A stage that has ended."""

    name: str
    tally: Tally
    seconds: float


def stage(name: str) -> Row:
    """Runs a stage, and counts its time."""
    say(f"== {name}")
    began = time.monotonic()
    tally = {**STAGES, **ASKED_FOR}[name]()
    return Row(name, tally, time.monotonic() - began)


def one_after_another(names: Iterable[str]) -> list[Row]:
    """Runs stages in this order, each with its lines in one block."""
    rows = []
    for name in names:
        with in_one_block():
            rows.append(stage(name))
    return rows


def whole() -> list[Row]:
    """Runs all stages."""
    beside = {name for row in ROWS for name in row}
    rows = [stage(name) for name in STAGES if name not in beside]
    with ThreadPoolExecutor(len(ROWS)) as pool:
        return rows + [row for ended in pool.map(one_after_another, ROWS) for row in ended]


def main(names: list[str]) -> int:
    """Runs the stages and prints the table."""
    known = {**STAGES, **ASKED_FOR}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"test.py: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    began = time.monotonic()
    rows = [stage(name) for name in names] if names else whole()
    SLOWEST.show()
    FAILURES.show()
    say(f"\n{'':12}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    total = Row("all", sum((row.tally for row in rows), Tally()), time.monotonic() - began)
    for name, tally, seconds in [*rows, total]:
        say(f"{name:12}{tally.passed:8}{tally.failed:8}{tally.skipped:8}{seconds:9.0f}")
    tally = total.tally
    say(f"\ntests: {tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
