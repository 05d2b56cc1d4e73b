"""The `forebay` command: the binary that the wheel carries, run in place of this Python process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from forebay.errors import AttachError


def binary() -> str:
    """Path of the daemon's binary: `FOREBAY_BIN`, else the one that was installed with this package."""
    named = os.environ.get("FOREBAY_BIN")
    path = Path(named) if named else Path(__file__).parent / "bin" / "forebay"
    if not os.access(path, os.X_OK):
        raise AttachError(
            f"there is no forebay binary at {path}; "
            + ("FOREBAY_BIN names it: correct or unset it" if named else "build one and name it in FOREBAY_BIN")
        )
    return str(path)


def main() -> None:
    """Becomes the binary, with this command's arguments."""
    try:
        path = binary()
    except AttachError as error:
        sys.exit(f"forebay: {error}")
    # `forebay compare` needs an interpreter with Pillow; this environment's is the first to ask.
    os.environ.setdefault("FOREBAY_PYTHON", sys.executable)
    os.execv(path, ["forebay", *sys.argv[1:]])
