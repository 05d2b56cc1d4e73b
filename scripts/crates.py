"""The crates that are linked into programs of this workspace, as cargo tells them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Name and version.
Key = tuple[str, str]


def output_of(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(packages: list[str], target: str | None = None) -> set[Key]:
    """Name and version of each crate that is linked, without those that only the compiler runs.

    The target is a triple of Rust, and by default this machine's.
    """
    options = ["--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
    options += ["--target", target] if target else []
    chosen = [word for package in packages for word in ("--package", package)]
    lines = output_of("cargo", "tree", *options, *chosen).splitlines()
    words = [line.split() for line in lines if line]
    return {(name, version.removeprefix("v")) for name, version, *_ in words}


def known() -> dict[Key, dict[str, Any]]:
    """What cargo knows of each crate that Cargo.lock names. Those of this workspace have no source."""
    metadata = json.loads(output_of("cargo", "metadata", "--locked", "--format-version", "1"))
    return {(crate["name"], crate["version"]): crate for crate in metadata["packages"]}
