"""The `forebay` command: the binary that the wheel carries, run in place of this Python process; and `parity`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from forebay.errors import AttachError


def binary() -> str:
    """Path of the daemon's binary: `FOREBAY_BIN`, or else the one that was installed with this package.

    Raises:
        AttachError: There is no such file, or it cannot be run.
    """
    named = os.environ.get("FOREBAY_BIN")
    path = Path(named) if named else Path(__file__).parent / "bin" / "forebay"
    # A folder may be entered, which os.access calls executable.
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise AttachError(
            f"there is no forebay binary at {path}; "
            + ("correct or unset FOREBAY_BIN, which names it" if named else "build one and name it in FOREBAY_BIN")
        )
    return str(path)


def main() -> None:
    """Replaces this process by the binary, with this command's arguments. Only `forebay parity` is Python's own."""
    if sys.argv[1:2] == ["parity"]:
        from forebay.parity.command import main as parity

        parity(sys.argv[2:])
        return
    try:
        path = binary()
    except AttachError as error:
        sys.exit(f"forebay: {error}")
    os.execv(path, ["forebay", *sys.argv[1:]])
