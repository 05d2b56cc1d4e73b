"""An authority and what it signs, for tests of TLS."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


class Authority:
    """An authority whose files are in a folder. Without openssl, the test is skipped."""

    def __init__(self, folder: Path) -> None:
        if not shutil.which("openssl"):
            pytest.skip("there is no openssl")
        self.folder = folder
        folder.mkdir()
        self.ca = folder / "ca.crt"
        self.key = folder / "ca.key"
        request = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test")
        self._openssl(*request, "-keyout", self.key, "-out", self.ca)

    def sign(self, name: str, *hosts: str) -> tuple[Path, Path]:
        """A certificate for these hosts, and its key."""
        key, request, certificate = (self.folder / f"{name}.{end}" for end in ("key", "csr", "crt"))
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extension = self.folder / f"{name}.ext"
        extension.write_text("subjectAltName = " + ", ".join(f"DNS:{host}" for host in hosts))
        by = ("-CA", self.ca, "-CAkey", self.key, "-CAcreateserial", "-days", "2")
        self._openssl("x509", "-req", "-in", request, "-extfile", extension, *by, "-out", certificate)
        return certificate, key

    @staticmethod
    def _openssl(*words: str | Path) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)
