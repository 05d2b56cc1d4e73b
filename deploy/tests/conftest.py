"""What the tests of packages and images share: the binary, the notices, and tools that are unpacked and not installed.

FOREBAY_BINARY, FOREBAY_C_PREFIX and FOREBAY_WHEEL name what is packed. A test whose tools are not to be had is skipped,
and says why.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
# The tests need bytes that are equal, and packages that are made soon.
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "1700000000", "DPKG_DEB_COMPRESSOR_LEVEL": "0"}


def run(*command: str | Path, timeout: float = 1800, **extra: str) -> str:
    """Runs a command that must succeed, and returns what it prints."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT, **extra},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def tool() -> Callable[..., Path]:
    """The folder that a script prints, such as `containers.sh`. If it fails, the test is skipped with its reason."""

    def folder(script: str, *arguments: str) -> Path:
        done = subprocess.run([SCRIPTS / script, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            pytest.skip(done.stderr.strip() or f"{script} fails")
        return Path(done.stdout.strip())

    return folder


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The daemon's binary, without its debug information."""
    built = os.environ.get("FOREBAY_BINARY", ROOT / "target" / "debug" / "forebay")
    stripped = tmp_path_factory.mktemp("binary") / "forebay"
    run("strip", "-o", stripped, built)
    return stripped


@pytest.fixture(scope="session")
def c_prefix() -> Path:
    """Where the library for C is installed."""
    return Path(os.environ.get("FOREBAY_C_PREFIX", ROOT / "target" / "c"))


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel of the Python package."""
    named = os.environ.get("FOREBAY_WHEEL")
    wheels = [Path(named)] if named else sorted((ROOT / "target" / "wheels" / "dev").glob("*.whl"))
    assert wheels, "there is no wheel; `make test-ship` builds it"
    return wheels[-1]


@pytest.fixture(scope="session")
def notices(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The notices, as deb.sh and image.sh take them from the environment."""
    folder = tmp_path_factory.mktemp("notices")
    found = {}
    for variable, package in (("FOREBAY_NOTICES", "forebay"), ("FOREBAY_C_NOTICES", "forebay-c")):
        path = folder / package
        path.write_text(run(sys.executable, SCRIPTS / "notices.py", package), encoding="utf-8")
        found[variable] = str(path)
    return found
