"""The Debian packages: their bytes, what lintian says of them, and their life on a machine that systemd has booted."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, SCRIPTS, run

# A script that makes the file `again` sees the machine boot once more.
UNIT = """\
[Unit]
Description=The test of the package
After=basic.target dbus.socket

[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'bash /ship/{script} >>/ship/log 2>&1; echo $? >/ship/status'
ExecStopPost=/bin/sh -c 'if rm /ship/again; then systemctl --no-block reboot; else systemctl --no-block poweroff; fi'
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
        "./lib/systemd/system/forebay-page.service",
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
def trainers(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """examples/train.c and part.c, compiled with what forebay-dev has."""
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
    (library,) = folder.parent.glob("libforebay.so.*.*.*")
    soname = next(line for line in run("readelf", "-d", library).splitlines() if "SONAME" in line)
    compiled = []
    for source in (ROOT / "examples" / "train.c", ROOT / "deploy" / "tests" / "part.c"):
        program = system / source.stem
        run("cc", "-std=c99", "-o", program, source, *flags, "-lm")
        assert soname.rpartition("[")[2] in run("readelf", "-d", program)
        compiled.append(program)
    return compiled


@pytest.fixture
def boot(packages: dict[str, Path], trainers: list[Path], tool: Callable[..., Path], tmp_path: Path):
    """Boots a Debian that runs a script of this folder, with the packages and the trainers beside it."""

    def booted(script: str) -> None:
        debian = tool("debian.sh", "service", "systemd", "dbus")
        ship = tmp_path / "ship"
        shutil.copytree(packages["first"], ship)
        (second,) = packages["second"].glob("forebay_*.deb")
        for file in (second, *trainers, *(ROOT / "deploy" / "tests" / name for name in (script, "steps.sh"))):
            shutil.copy(file, ship)
        for package in ship.glob("forebay-dev_*"):
            package.unlink()
        # The trainers run as the user forebay.
        ship.chmod(0o755)
        unit = tmp_path / "ship.service"
        unit.write_text(UNIT.format(script=script))
        bound = (f"--bind={ship}:/ship", f"--bind-ro={unit}:/etc/systemd/system/ship.service")
        command = [SCRIPTS / "nspawn.sh", debian, *bound, "systemd.wants=ship.service"]
        ran = subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=1200
        )
        if not (ship / "log").exists():
            pytest.skip(f"no Debian is booted here: {(ran.stderr or ran.stdout)[-300:]}")
        log = (ship / "log").read_text()
        assert (ship / "status").read_text().strip() == "0", log
        assert log.endswith("passed: all\n"), log

    return booted


def test_the_service_is_installed_upgraded_beside_a_trainer_and_purged(boot: Callable[[str], None]):
    boot("service.sh")


def test_the_service_survives_kills_hangs_wrong_reloads_and_a_reboot_in_the_middle_of_an_epoch(
    boot: Callable[[str], None],
):
    boot("boots.sh")
