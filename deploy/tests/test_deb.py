"""The Debian packages: their bytes, what lintian says of them, and their life on a machine that systemd has booted."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, SCRIPTS, run

UNIT = """\
[Unit]
Description=The test of the package
After=basic.target dbus.socket

[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'bash /ship/service.sh >/ship/log 2>&1; echo $? >/ship/status'
ExecStopPost=/bin/systemctl --no-block poweroff
"""


@pytest.fixture(scope="module")
def packages(
    binary: Path, c_prefix: Path, notices: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The packages of two revisions, and the first of them made again."""
    for needed in ("dpkg-deb", "readelf", "strip"):
        if not shutil.which(needed):
            pytest.skip(f"there is no {needed} here")
    made = {}
    for name, revision in (("first", "1"), ("again", "1"), ("second", "2")):
        made[name] = tmp_path_factory.mktemp(name)
        run(SCRIPTS / "deb.sh", binary, made[name], c_prefix, DEB_REVISION=revision, **notices)
    return made


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_the_same_input_makes_the_same_packages(packages: dict[str, Path]):
    first = sums(packages["first"])
    assert len(first) == 3
    assert sums(packages["again"]) == first


def test_the_manual_and_the_completions_are_in_the_package(packages: dict[str, Path]):
    (package,) = packages["first"].glob("forebay_*.deb")
    names = run("dpkg-deb", "-c", package)
    for name in (
        "./usr/share/man/man1/forebay.1.gz",
        "./usr/share/man/man1/forebay-serve.1.gz",
        "./usr/share/bash-completion/completions/forebay",
        "./usr/share/zsh/vendor-completions/_forebay",
        "./usr/share/fish/vendor_completions.d/forebay.fish",
        "./usr/share/doc/forebay/NOTICES.gz",
        "./lib/systemd/system/forebay.service",
    ):
        assert name in names
    assert "/usr/local" not in names


def test_lintian_finds_nothing(packages: dict[str, Path], tool: Callable[..., Path]):
    debian = tool("debian.sh", "lint", "lintian", "perl-openssl-defaults")
    inside = debian / "packages-to-check"
    shutil.rmtree(inside, ignore_errors=True)
    shutil.copytree(packages["first"], inside)
    names = sorted(f"/{inside.name}/{path.name}" for path in inside.iterdir())
    lintian = ("lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0")
    said = run("chroot", debian, *lintian, *names, PATH="/usr/sbin:/usr/bin:/sbin:/bin")
    assert said == ""


@pytest.fixture(scope="module")
def trainer(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """examples/train.c, compiled with what forebay-dev has."""
    for needed in ("cc", "pkg-config"):
        if not shutil.which(needed):
            pytest.skip(f"there is no {needed} here to compile a trainer")
    system = tmp_path_factory.mktemp("system")
    for package in packages["first"].glob("*forebay*.deb"):
        if not package.name.startswith("forebay_"):
            run("dpkg-deb", "-x", package, system)
    (folder,) = system.glob("usr/lib/*/pkgconfig")
    where = {"PKG_CONFIG_SYSROOT_DIR": str(system), "PKG_CONFIG_LIBDIR": str(folder)}
    flags = run("pkg-config", "--cflags", "--libs", "forebay", **where).split()
    program = system / "train"
    run("cc", "-std=c99", "-o", program, ROOT / "examples" / "train.c", *flags, "-lm")
    (library,) = folder.parent.glob("libforebay.so.*.*.*")
    needed = run("readelf", "-d", program)
    soname = next(line for line in run("readelf", "-d", library).splitlines() if "SONAME" in line)
    assert soname.rpartition("[")[2] in needed
    return program


def test_the_service_is_installed_upgraded_beside_a_trainer_and_purged(
    packages: dict[str, Path], trainer: Path, tool: Callable[..., Path], tmp_path: Path
):
    debian = tool("debian.sh", "service", "systemd", "dbus")
    ship = tmp_path / "ship"
    shutil.copytree(packages["first"], ship)
    (second,) = packages["second"].glob("forebay_*.deb")
    for file in (second, trainer, ROOT / "deploy" / "tests" / "service.sh"):
        shutil.copy(file, ship)
    for package in ship.glob("forebay-dev_*"):
        package.unlink()
    # The trainer runs as the user forebay.
    ship.chmod(0o755)
    unit = tmp_path / "ship.service"
    unit.write_text(UNIT)
    bound = (f"--bind={ship}:/ship", f"--bind-ro={unit}:/etc/systemd/system/ship.service")
    command = [SCRIPTS / "nspawn.sh", debian, *bound, "systemd.wants=ship.service"]
    booted = subprocess.run(
        command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=1200
    )
    if not (ship / "log").exists():
        pytest.skip(f"no Debian is booted here: {(booted.stderr or booted.stdout)[-300:]}")
    log = (ship / "log").read_text()
    assert (ship / "status").read_text().strip() == "0", log
    assert log.endswith("passed: all\n"), log
