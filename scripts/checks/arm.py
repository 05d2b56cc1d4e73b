"""Tests as built for 64-bit ARM, run by QEMU on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from checks import pytests
from checks.output import say
from checks.programs import TestOutput
from checks.pytests import VENV
from checks.tally import ROOT, Tally, counted, lines_of

TARGET = "aarch64-unknown-linux-gnu"
# Rust's own linker links with musl, so that this one takes no compiler of C.
STATIC = "aarch64-unknown-linux-musl"
# QEMU takes some ten times as long, and the same cases run in full on this machine's processor.
FEWER = {"PROPTEST_CASES": "8", "PROPTEST_RNG_SEED": "1"}


def setting(target: str, name: str) -> str:
    """The variable by which cargo is told of a linker or a runner."""
    return f"CARGO_TARGET_{target.upper().replace('-', '_')}_{name}"


def tests(stage: str, *command: str, **extra: str) -> Tally:
    """Runs cargo, and adds up the tests."""
    return counted(
        lines_of(*command, "--no-fail-fast", "--", "--show-output", **FEWER, **extra), TestOutput(stage).read
    )


def whole(binary: Path) -> Tally:
    """Decoders, pixels and rings, and an epoch of the wheel."""
    got = subprocess.run([ROOT / "scripts" / "arm.sh"], capture_output=True, text=True)
    if got.returncode != 0:
        say(f"skipped: {got.stderr.strip()}")
        return Tally(skipped=1)
    packages = [word for package in ("jpeg", "webp", "avif", "pixels", "ring") for word in ("-p", f"forebay-{package}")]
    command = ("scripts/cross.sh", "dev", "cargo-zigbuild", "test", "--locked", "--target", f"{TARGET}.2.28", *packages)
    extra = {
        setting(TARGET, "RUNNER"): f"{got.stdout.strip()}/run",
        "FOREBAY_PYTHON": str(VENV / "python"),
        "INSTA_UPDATE": "no",
        # Without it, tests take the photographs beside the checkout, which would be hours.
        "FOREBAY_TEST_DATA": os.environ.get("FOREBAY_TEST_DATA", str(ROOT / "target" / "arm" / "no-photographs")),
    }
    tested = tests("arm", *command, "--tests", **extra)
    return tested + pytests.run("deploy/tests/test_wheels.py", "-k", "on_arm", FOREBAY_BINARY=str(binary))


def neon() -> Tally:
    """The JPEG decoder's own tests: a short form of the whole."""
    unpacked = (ROOT / "scripts" / "unpack.sh", "arm/qemu", "qemu-user-static")
    got = subprocess.run(unpacked, capture_output=True, text=True)
    if got.returncode != 0:
        say(f"skipped: {got.stderr.strip()}")
        return Tally(skipped=1)
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    if not Path(sysroot, "lib", "rustlib", STATIC).is_dir():
        rustup = shutil.which("rustup")
        if rustup is None or subprocess.run([rustup, "-q", "target", "add", STATIC], capture_output=True).returncode:
            say(f"skipped: there is no Rust for {STATIC} here, and no rustup that could install it")
            return Tally(skipped=1)
    extra = {
        setting(STATIC, "LINKER"): "rust-lld",
        setting(STATIC, "RUNNER"): f"{got.stdout.strip()}/usr/bin/qemu-aarch64-static",
    }
    command = ("cargo", "test", "--locked", "--target", STATIC, "-p", "forebay-jpeg")
    return tests("neon", *command, "--lib", "--test", "architectures", **extra)
