"""Runs every check and test, or those that are named, and ends with one line that adds them up.

A check (formatting, a lint, a document) counts as one test. A Rust test that prints a line `skipped: REASON` counts as
skipped. A failure does not keep the rest from running; the exit status tells.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv" / "bin"
BINARY = ROOT / "target" / "debug" / "forebay"
C_PREFIX = ROOT / "target" / "c"
FUZZ = ("--manifest-path", "fuzz/Cargo.toml")


class Tally(NamedTuple):
    """Tests by how they ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: tuple[int, ...]) -> Tally:
        return Tally(*(a + b for a, b in zip(self, other)))


def lines_of(*command: str | Path, **extra: str) -> Iterator[str]:
    """Runs a command at the root, line by line; the last item is its exit status. `extra` joins the environment."""
    environment = {**os.environ, **extra}
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        yield from process.stdout
        yield f"exit {process.wait()}"


def check(*command: str | Path, **extra: str) -> Tally:
    """A command that passes or fails as a whole."""
    for line in lines_of(*command, **extra):
        if line == "exit 0":
            return Tally(passed=1)
        if line.startswith("exit "):
            return Tally(failed=1)
        print(line, end="", flush=True)
    raise AssertionError("a command's last line is its status")


def counted(command: tuple[str | Path, ...], read: Callable[[str], Tally], **extra: str) -> Tally:
    """A command that counts its tests itself. One that fails without a failed test did not get as far as a test."""
    tally = Tally()
    for line in lines_of(*command, **extra):
        if line.startswith("exit "):
            broken = line != "exit 0" and tally.failed == 0
            return tally + Tally(failed=int(broken))
        tally += read(line)
    return tally


class CargoOutput:
    """Reads what `cargo test -- --show-output` prints: hides what is well, shows what tests have to say."""

    RESULT = re.compile(r"test result: .* (\d+) passed; (\d+) failed; (\d+) ignored")
    DULL = re.compile(r"(test .* ok|successes:|running \d+ tests?|    [\w:]+|    \S+ - .*\(line \d+\)|)$")

    def __init__(self) -> None:
        self.skips: set[str] = set()
        self.section = ""

    def read(self, line: str) -> Tally:
        """Takes one line."""
        line = line.rstrip("\n")
        if section := re.match(r"---- (.+) stdout ----$", line):
            self.section = section[1]
            return Tally()
        if result := self.RESULT.match(line):
            passed, failed, ignored = map(int, result.groups())
            skipped = len(self.skips)
            self.skips.clear()
            print(f"    {passed - skipped} passed, {failed} failed, {ignored + skipped} skipped", flush=True)
            return Tally(passed - skipped, failed, ignored + skipped)
        if line.startswith("skipped: "):
            self.skips.add(self.section)
        if not self.DULL.match(line):
            print(line, flush=True)
        return Tally()


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
    command = ("cargo", "test", "--workspace", "--locked", "--no-fail-fast", "--", "--show-output")
    nvjpeg = ":".join(map(str, VENV.parent.glob("lib/python3*/site-packages/nvidia/*/lib/libnvjpeg.so.*")))
    python = str(VENV / "python")
    return counted(command, CargoOutput().read, FOREBAY_PYTHON=python, FOREBAY_NVJPEG_FILES=nvjpeg, PATH=with_etcd())


def wheel() -> Tally:
    """The wheel around the binary that the Rust tests were run with."""
    built = check("cargo", "test", "-q", "--workspace", "--locked", "--no-run")
    return check("scripts/wheel.sh", "dev", BINARY) if built.passed else built


def pytest_tally(line: str) -> Tally:
    """Reads pytest's last line, such as `2 failed, 31 passed, 1 skipped in 5.02s`."""
    print(line, end="", flush=True)
    if not re.search(r"\d+ \w+.* in [\d.]+s", line):
        return Tally()
    found = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
    failed = sum(found.get(word, 0) for word in ("failed", "error", "errors"))
    return Tally(found.get("passed", 0) + found.get("xfailed", 0), failed, found.get("skipped", 0))


def pytest(*arguments: str) -> Tally:
    """The Python package's tests, against the wheel in .venv."""
    command = (VENV / "python", "-m", "pytest", "-q", "--no-header", "-rs", "-p", "no:cacheprovider", *arguments)
    surroundings = {"PATH": with_venv(), "PYTHONPATH": str(libraries("originals"))}
    # The torture has trainers in C and Rust.
    programs = {"FOREBAY_C_PREFIX": str(C_PREFIX), "FOREBAY_EXAMPLES": str(BINARY.parent / "examples")}
    elasticdl = str(libraries("elasticdl"))
    return counted(
        (*command, "clients/python/tests"), pytest_tally, **surroundings, **programs, FOREBAY_ELASTICDL=elasticdl
    )


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
        print(f"not installed from the package index: {', '.join(failed)}", flush=True)
    else:
        stamp.write_text(wanted)
    return folder


def compare() -> Tally:
    """What `make compare` and `benches/recipes/run` make of their figures; nothing is measured."""
    tests = [ROOT / "benches" / name / "tests" for name in ("compare", "recipes")]
    command = (VENV / "python", "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *tests)
    folders = [ROOT / "benches" / name for name in ("compare", "compare/entrants", "recipes", "recipes/peers")]
    return counted(command, pytest_tally, PYTHONPATH=":".join(map(str, folders)))


def gpu() -> Tally:
    """Every part of `benches/gpu/run` on the fake GPU, and what it makes of its figures."""
    command = (
        VENV / "python",
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "-rs",
        "-p",
        "no:cacheprovider",
        "benches/gpu/tests",
    )
    return counted(command, pytest_tally, PYTHONPATH=str(ROOT / "benches" / "gpu"), PATH=with_venv())


def install_c() -> Tally:
    """The library for C, installed as users have it."""
    return check("scripts/c.sh", "dev", C_PREFIX)


def c() -> Tally:
    """Programs in C and C++ against a real daemon."""
    installed = install_c()
    # Daemons and datasets are those of the Python package's tests.
    command = (VENV / "python", "-m", "pytest", "-q", "--no-header", "-rs", "-p", "no:cacheprovider", "-p", "conftest")
    beside = {"PYTHONPATH": str(ROOT / "clients" / "python" / "tests"), "FOREBAY_C_PREFIX": str(C_PREFIX)}
    return installed + counted((*command, "clients/c/tests"), pytest_tally, PATH=with_venv(), **beside)


def torch() -> Tally:
    """Those that need PyTorch."""
    return pytest("-k", "torch")


def tensorflow() -> Tally:
    """Those that need TensorFlow."""
    return beside("tensorflow", ("tensorflow-cpu",), "test_tf.py", "test_tf_example.py", "test_torch_and_others.py")


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
    command = (python, "-m", "pytest", "-q", "--no-header", "-rs", "-p", "no:cacheprovider")
    path = f"{venv / 'bin'}:{os.environ['PATH']}"
    tests = [f"clients/python/tests/{file}" for file in files]
    return made + counted((*command, *tests), pytest_tally, PATH=path)


def paddle() -> Tally:
    """Those that need Paddle."""
    return beside("paddle", ("paddlepaddle",), "test_paddle.py")


def torture() -> Tally:
    """The one that lasts as long as it is told to."""
    return install_c() + pytest("-k", "whatever_happens")


def chaos() -> Tally:
    """Clusters of real processes in trouble, for as long as it is told to."""
    command = ("cargo", "test", "--locked", "-p", "forebay", "--test", "service", "chaos", "--", "--show-output")
    return counted(command, CargoOutput().read, PATH=with_etcd())


def simulation() -> Tally:
    """Simulated clusters, in release, with as many seeds as it is told."""
    command = ("cargo", "test", "--release", "--locked", "-p", "forebay-coordinator", "--lib", "simulation")
    return counted((*command, "--", "--show-output"), CargoOutput().read)


def model() -> Tally:
    """Random histories of ledgers against a naive model, in release, as many as it is told."""
    command = ("cargo", "test", "--release", "--locked", "-p", "forebay-coordinator", "--test", "ledger", "model::")
    return counted(command, CargoOutput().read)


def ruff() -> Tally:
    """Python's lints and formatting."""
    lint = check(VENV / "ruff", "check", "--no-cache", "-q")
    return lint + check(VENV / "ruff", "format", "--no-cache", "-q", "--check")


def documents() -> Tally:
    """Documents that are made from code are current."""
    return check(VENV / "python", "scripts/configuration.py")


def systemd() -> Tally:
    """What systemd itself says of the units."""
    command = ("scripts/units.sh",)

    def read(line: str) -> Tally:
        print(line, end="", flush=True)
        return Tally(passed=line.startswith("passed: "), skipped=line.startswith("skipped: "))

    return counted(command, read)


def readme() -> Tally:
    """The README's blocks, each of which is a test."""

    def read(line: str) -> Tally:
        print(line, end="", flush=True)
        return Tally(*(int(line.startswith(word)) for word in ("passed: ", "failed: ", "skipped: ")))

    elasticdl = str(libraries("elasticdl"))
    return counted(
        (VENV / "python", "scripts/readme.py"), read, PATH=f"{VENV}:{with_etcd()}", FOREBAY_ELASTICDL=elasticdl
    )


def with_etcd() -> str:
    """PATH with an etcd, which is downloaded if need be. Without one, tests that need it are skipped, and say so."""
    got = subprocess.run([ROOT / "scripts" / "etcd.sh"], capture_output=True, text=True)
    if got.returncode != 0:
        print(f"no etcd: {got.stderr.strip()}", flush=True)
        return os.environ["PATH"]
    return f"{os.environ['PATH']}:{got.stdout.strip()}"


def with_venv() -> str:
    """PATH with .venv first, where the wheel's `forebay` is."""
    return f"{VENV}:{os.environ['PATH']}"


STAGES: dict[str, Callable[[], Tally]] = {
    "format": lambda: check("cargo", "fmt", "--all", "--check") + check("cargo", "fmt", *FUZZ, "--check"),
    "clippy": clippy,
    "rust": rust,
    "rustdoc": lambda: check(
        "cargo", "doc", "-q", "--workspace", "--no-deps", "--locked", "--keep-going", RUSTDOCFLAGS="-D warnings"
    ),
    "wheel": wheel,
    "ruff": ruff,
    "pytest": lambda: install_c() + pytest(),
    "c": c,
    "compare": compare,
    "gpu": gpu,
    "documents": documents,
    "systemd": systemd,
    "readme": readme,
}
# Not in the whole: PyTorch, TensorFlow, JAX and Paddle are large, and short forms of the others are in there.
ASKED_FOR = {
    "torch": torch,
    "tensorflow": tensorflow,
    "jax": jax,
    "paddle": paddle,
    "torture": torture,
    "chaos": chaos,
    "simulation": simulation,
    "model": model,
}


def main(names: list[str]) -> int:
    """Runs the stages and prints the table."""
    known = {**STAGES, **ASKED_FOR}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"test.py: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    rows = []
    for name in names or STAGES:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        tally = known[name]()
        rows.append((name, tally, time.monotonic() - began))
    print(f"\n{'':12}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for name, tally, seconds in rows:
        print(f"{name:12}{tally.passed:8}{tally.failed:8}{tally.skipped:8}{seconds:9.0f}")
    total = sum((tally for _, tally, _ in rows), Tally())
    print(f"\ntests: {total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
