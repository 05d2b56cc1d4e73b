"""The wheels: metadata, what they need of a machine, and epochs in fresh environments, on x86-64 and on ARM by QEMU."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, SCRIPTS, run

TARGETS = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}
# Of a wheel that is built with the profile `dist`; PyPI takes 100 MB.
MOST = 20_000_000


@pytest.fixture(scope="session")
def wheels(tool: Callable[..., Path]) -> dict[str, Path]:
    """The wheel of each machine: those in FOREBAY_WHEELS, or else built with the profile `dev`."""
    named = os.environ.get("FOREBAY_WHEELS")
    if not named:
        tool("release_tools.sh")
        for target in TARGETS.values():
            installed = Path(run("rustc", "--print", "sysroot").strip(), "lib", "rustlib", target)
            if not installed.is_dir() and subprocess.run(["rustup", "target", "add", target]).returncode != 0:
                pytest.skip(f"there is no Rust for {target} here, and no rustup that could install it")
        named = ROOT / "target" / "wheels" / "manylinux"
        run(SCRIPTS / "manylinux.sh", "dev", named, timeout=7200)
    found = {machine: list(Path(named).glob(f"forebay-*_{machine}.whl")) for machine in TARGETS}
    assert all(len(files) == 1 for files in found.values()), found
    return {machine: file for machine, (file,) in found.items()}


@pytest.fixture(params=TARGETS)
def wheel(request: pytest.FixtureRequest, wheels: dict[str, Path]) -> Path:
    """One wheel after the other."""
    return wheels[request.param]


def metadata(wheel: Path) -> Message:
    """The fields that pip reads."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (path for path in archive.namelist() if path.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_a_wheel_needs_glibc_2_28_and_the_stable_abi_of_python_3_9(wheel: Path, tool: Callable[..., Path]):
    machine = wheel.stem.removeprefix(wheel.stem.partition("-cp39-abi3-")[0])
    assert re.fullmatch(r"-cp39-abi3-manylinux_2_28_(x86_64|aarch64)", machine), wheel.name
    said = run(tool("release_tools.sh") / "auditwheel", "show", wheel)
    assert f'"{machine.rpartition("-")[2]}"' in said
    run(tool("release_tools.sh") / "twine", "check", "--strict", wheel)


def test_a_wheel_of_the_profile_dist_has_less_than_20_mb(wheel: Path):
    if "FOREBAY_WHEELS" not in os.environ:
        pytest.skip("FOREBAY_WHEELS names no wheels that are built with the profile dist")
    assert wheel.stat().st_size < MOST


def test_pip_refuses_the_wheel_where_glibc_is_older_than_2_28(wheels: dict[str, Path], tmp_path: Path):
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps"]
    command += ["--only-binary", ":all:", "--target", str(tmp_path), "--platform", "manylinux_2_27_x86_64"]
    refused = subprocess.run([*command, str(wheels["x86_64"])], capture_output=True, text=True)
    assert refused.returncode != 0
    assert "is not a supported wheel on this platform" in refused.stderr


def epoch_of(printed: str) -> list[str]:
    """What epoch.py prints."""
    lines = printed.strip().splitlines()
    assert re.fullmatch("[0-9a-f]{64}", lines[0]), printed
    assert lines[1] == "60"
    assert "complete=True, adds_up=True" in lines[2]
    return lines


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    binary = os.environ.get("FOREBAY_BINARY", ROOT / "target" / "debug" / "forebay")
    run(binary, "sample", folder / "pictures", "--count", "60", "--classes", "3")
    return folder / "pictures"


@pytest.fixture(scope="session")
def expected(pictures: Path) -> list[str]:
    """The epoch as the build of this machine's own compiler reads it."""
    return epoch_of(run(sys.executable, ROOT / "deploy" / "tests" / "epoch.py", pictures))


def collected(folder: Path, wheel: Path, version: str) -> None:
    """A folder with a wheel, and with all that it needs for a version of Python."""
    pip = (sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--no-input")
    machine = wheel.stem.rpartition("_2_28_")[2]
    platforms = [word for tag in ("2_17", "2_27", "2_28") for word in ("--platform", f"manylinux_{tag}_{machine}")]
    options = ("--only-binary", ":all:", "--python-version", version, *platforms)
    done = subprocess.run([*pip, "download", *options, "-d", str(folder), str(wheel)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"the package index does not have what the wheel needs: {done.stderr.strip()[-200:]}")


@pytest.mark.parametrize("suite", ["bullseye", "forky"])
def test_a_fresh_environment_of_the_oldest_and_the_newest_python_reads_an_epoch(
    suite: str,
    wheels: dict[str, Path],
    pictures: Path,
    expected: list[str],
    tool: Callable[..., Path],
    monkeypatch,
    tmp_path: Path,
):
    monkeypatch.setenv("SUITE", suite)
    debian = tool("debian.sh", f"wheel-{suite}", "python3", "python3-venv")
    inside = ("unshare", "--mount", "--pid", "--fork", "sh", "-c")
    shell = """
set -e
mount -t proc proc "$1/proc"
mount -t tmpfs tmp "$1/tmp"
mkdir "$1/tmp/files" "$1/tmp/pictures"
mount --bind "$2" "$1/tmp/files"
mount --bind "$3" "$1/tmp/pictures"
exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp sh -ec "$4"
"""

    def within(script: str) -> str:
        return run(*inside, shell, "sh", debian, tmp_path, pictures, script)

    version = within("python3 -c 'import sys; print(*sys.version_info[:2], sep=\".\")'").strip()
    if suite == "bullseye":
        assert metadata(wheels["x86_64"])["Requires-Python"] == f">={version}", "the oldest that is promised is tested"
    collected(tmp_path, wheels["x86_64"], version)
    (tmp_path / "epoch.py").write_bytes((ROOT / "deploy" / "tests" / "epoch.py").read_bytes())
    printed = within("""
! command -v cc gcc cargo
python3 -m venv /tmp/environment
/tmp/environment/bin/pip install -q --no-index --find-links /tmp/files forebay
/tmp/environment/bin/python /tmp/files/epoch.py /tmp/pictures
""")
    assert epoch_of(printed) == expected


@pytest.mark.parametrize("page", ["4096", "65536"])
def test_the_epoch_is_the_same_on_arm_with_pages_of_4_and_of_64_kib(
    page: str, wheels: dict[str, Path], pictures: Path, expected: list[str], tool: Callable[..., Path], tmp_path: Path
):
    arm = tool("arm.sh")
    system = arm / "system"
    (python,) = system.glob("usr/bin/python3.[0-9]*[0-9]")
    version = python.name.removeprefix("python")
    collected(tmp_path / "files", wheels["aarch64"], version)
    # As pip on that machine does, which would take minutes in QEMU.
    options = (
        "--only-binary",
        ":all:",
        "--python-version",
        version,
        "--no-index",
        "--no-deps",
        "--target",
        tmp_path / "site",
    )
    platforms = [word for tag in ("2_17", "2_27", "2_28") for word in ("--platform", f"manylinux_{tag}_aarch64")]
    run(sys.executable, "-m", "pip", "install", "-q", *options, *platforms, *(tmp_path / "files").glob("*.whl"))
    assert run(arm / "run", python, "-c", "import platform; print(platform.machine())").strip() == "aarch64"
    epoch = (arm / "run", python, ROOT / "deploy" / "tests" / "epoch.py", pictures)
    printed = run(*epoch, PYTHONPATH=str(tmp_path / "site"), QEMU_PAGESIZE=page, PYTHONNOUSERSITE="1")
    assert epoch_of(printed) == expected
