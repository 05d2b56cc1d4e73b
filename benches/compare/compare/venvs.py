"""Each peer in a virtual environment of its own, since they do not agree on versions; made once, kept in `target/`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"


class UnavailableError(Exception):
    """A peer that cannot be installed: its row says why."""


class Venvs:
    """The environments below one folder."""

    def __init__(self, folder: Path, wheel: Path | None) -> None:
        self.folder = folder
        self.wheel = wheel
        self.failed: dict[str, str] = {}

    def python(self, venv: str, *requirements: str) -> Path:
        """An interpreter with the packages of these files.

        Raises:
            UnavailableError: They cannot be installed here.
        """
        python = self.folder / venv / "bin" / "python"
        for packages in requirements:
            if self.has(venv, packages):
                continue
            if packages not in self.failed:
                self._install(python, packages)
            if packages in self.failed:
                raise UnavailableError(self.failed[packages])
            self._stamp(venv, packages).write_text(self._wanted(packages))
        return python

    def has(self, venv: str, packages: str) -> bool:
        """Whether they are installed there."""
        stamp = self._stamp(venv, packages)
        return stamp.is_file() and stamp.read_text() == self._wanted(packages)

    def versions(self, venv: str) -> dict[str, str]:
        """What is installed, by its name in small letters with hyphens."""
        python = self.folder / venv / "bin" / "python"
        listed = subprocess.run(
            [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
            capture_output=True,
            text=True,
            check=False,
        )
        pairs = [line.split("==", 1) for line in listed.stdout.splitlines() if "==" in line]
        return {name.lower().replace("_", "-"): version for name, version in pairs}

    def _stamp(self, venv: str, packages: str) -> Path:
        return self.folder / venv / f"{packages}.installed"

    def _wanted(self, packages: str) -> str:
        if packages == "forebay":
            if self.wheel is None:
                raise UnavailableError("no wheel of this project was found: run `make build`")
            return f"{self.wheel} {self.wheel.stat().st_mtime_ns}\n"
        return (REQUIREMENTS / f"{packages}.txt").read_text()

    def _install(self, python: Path, packages: str) -> None:
        print(f"installing {packages} into {python.parent.parent}", flush=True)
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        if packages == "forebay":
            what = ["--force-reinstall", str(self.wheel)]
        else:
            what = ["-r", str(REQUIREMENTS / f"{packages}.txt")]
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", *what]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            errors = [line for line in said if "error" in line.lower()]
            self.failed[packages] = f"pip cannot install it: {(errors or said or ['it says nothing'])[0].strip()}"
