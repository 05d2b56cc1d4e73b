"""The wheels: metadata, what they need of a machine, and epochs in fresh environments, on x86-64 and on ARM by QEMU."""

from __future__ import annotations

import email
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, SCRIPTS, run

TARGETS = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
# Of a wheel that is built with the profile `dist`; PyPI takes 100 MB. It would be below 20 MB if no loop over pixels
# were made of vectors.
MOST = 24_000_000


@pytest.fixture(scope="session")
def wheel_for(tool: Callable[..., Path]) -> Callable[[str], Path]:
    """The wheel for a machine: the one in FOREBAY_WHEELS, or else one that is built with the profile `dev`."""

    def built(target: str) -> Path:
        tool("release_tools.sh")
        installed = Path(run("rustc", "--print", "sysroot").strip(), "lib", "rustlib", target)
        if not installed.is_dir() and subprocess.run(["rustup", "target", "add", target]).returncode != 0:
            pytest.skip(f"there is no Rust for {target} here, and no rustup that could install it")
        folder = ROOT / "target" / "wheels" / "manylinux"
        run(SCRIPTS / "manylinux.sh", "dev", folder, target, timeout=7200)
        return folder

    @functools.cache
    def found(machine: str) -> Path:
        folder = Path(os.environ.get("FOREBAY_WHEELS") or built(TARGETS[machine]))
        (file,) = folder.glob(f"forebay-*_{machine}.whl")
        return file

    return found


@pytest.fixture(params=TARGETS)
def wheel(request: pytest.FixtureRequest, wheel_for: Callable[[str], Path]) -> Path:
    """One wheel after the other."""
    return wheel_for(request.param)


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


def test_a_wheel_has_licences_a_bill_of_materials_with_the_daemon_and_programs_of_its_machine(wheel: Path):
    machine = "x86_64" if wheel.stem.endswith("x86_64") else "aarch64"
    with zipfile.ZipFile(wheel) as archive:
        (folder,) = {path.partition("/")[0] for path in archive.namelist() if ".dist-info/" in path}
        assert metadata(wheel).get_all("License-File") == ["LICENSE-APACHE", "LICENSE-MIT", "NOTICES"]
        assert b"\nredb " in archive.read(f"{folder}/licenses/NOTICES")
        document = json.loads(archive.read(f"{folder}/sboms/forebay.cyclonedx.json"))
        programs = {path: archive.read(path)[:20] for path in ("forebay/bin/forebay", "forebay/_native.abi3.so")}
    assert {"redb", "pyo3", "tokio"} <= {component["name"] for component in document["components"]}
    inside = {library["name"] for component in document["components"] for library in component.get("components", ())}
    assert inside == {"dav1d", "libjpeg-turbo", "libwebp", "zstd"}
    for path, head in programs.items():
        # The field e_machine of an ELF file.
        assert int.from_bytes(head[18:20], "little") == ELF_MACHINES[machine], path


def test_a_wheel_of_the_profile_dist_has_less_than_24_mb(wheel: Path):
    if "FOREBAY_WHEELS" not in os.environ:
        pytest.skip("FOREBAY_WHEELS names no wheels that are built with the profile dist")
    assert wheel.stat().st_size < MOST


def test_pip_refuses_the_wheel_where_glibc_is_older_than_2_28(wheel_for: Callable[[str], Path], tmp_path: Path):
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps"]
    command += ["--only-binary", ":all:", "--target", str(tmp_path), "--platform", "manylinux_2_27_x86_64"]
    refused = subprocess.run([*command, str(wheel_for("x86_64"))], capture_output=True, text=True)
    assert refused.returncode != 0
    assert "is not a supported wheel on this platform" in refused.stderr


def test_a_debian_package_of_a_wheel_s_binary_needs_its_old_glibc(
    wheel_for: Callable[[str], Path], notices: dict[str, str], tmp_path: Path
):
    if not shutil.which("dpkg-deb"):
        pytest.skip("there is no dpkg-deb here")
    with zipfile.ZipFile(wheel_for("x86_64")) as archive:
        binary = tmp_path / "forebay"
        binary.write_bytes(archive.read("forebay/bin/forebay"))
    binary.chmod(0o755)
    run(SCRIPTS / "deb.sh", binary, tmp_path / "packages", **notices)
    (package,) = (tmp_path / "packages").glob("forebay_*.deb")
    assert run("dpkg-deb", "-f", package, "Depends").startswith("libc6 (>= 2.28)")


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
    wheel_for: Callable[[str], Path],
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
        assert metadata(wheel_for("x86_64"))["Requires-Python"] == f">={version}", (
            "the oldest that is promised is tested"
        )
    collected(tmp_path, wheel_for("x86_64"), version)
    (tmp_path / "epoch.py").write_bytes((ROOT / "deploy" / "tests" / "epoch.py").read_bytes())
    printed = within("""
for compiler in cc gcc cargo; do if command -v $compiler; then exit 1; fi; done
python3 -m venv /tmp/environment
/tmp/environment/bin/pip install -q --no-index --find-links /tmp/files forebay
/tmp/environment/bin/python /tmp/files/epoch.py /tmp/pictures
""")
    assert epoch_of(printed) == expected


@pytest.mark.parametrize("page", ["4096", "65536"])
def test_the_epoch_is_the_same_on_arm_with_pages_of_4_and_of_64_kib(
    page: str,
    wheel_for: Callable[[str], Path],
    pictures: Path,
    expected: list[str],
    tool: Callable[..., Path],
    tmp_path: Path,
):
    arm = tool("arm.sh")
    system = arm / "system"
    (python,) = system.glob("usr/bin/python3.[0-9]*[0-9]")
    version = python.name.removeprefix("python")
    collected(tmp_path / "files", wheel_for("aarch64"), version)
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
