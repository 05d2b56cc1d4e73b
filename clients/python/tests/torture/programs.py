"""How a trainer of the torture test is run, in each language that there is on this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3] / "c" / "tests"
STRICT = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def commands(folder):
    """The command of a trainer by language, and of the other languages why there is none.

    `FOREBAY_C_PREFIX` is where the library for C is installed, and `FOREBAY_EXAMPLES` has cargo's examples. The
    program in C is compiled into the folder.
    """
    found = {"python": [sys.executable, str(Path(__file__).with_name("trainer.py"))]}
    missing = {}
    prefix = Path(os.environ.get("FOREBAY_C_PREFIX", "/nowhere"))
    if not (prefix / "lib" / "libforebay.so").is_file():
        missing["c"] = f"{prefix} has no library for C: scripts/c.sh installs it, and FOREBAY_C_PREFIX names the folder"
    elif not shutil.which("cc"):
        missing["c"] = "cc is not installed"
    else:
        found["c"] = [str(compiled(prefix, folder / "trainer-in-c"))]
    rust = Path(os.environ.get("FOREBAY_EXAMPLES", "/nowhere")) / "torture"
    if rust.is_file():
        found["rust"] = [str(rust)]
    else:
        missing["rust"] = f"{rust} is missing: `cargo test --no-run` builds it, and FOREBAY_EXAMPLES names the folder"
    return found, missing


def compiled(prefix, program):
    """The program in C, with the library that is installed there."""
    libraries = [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-lforebay"]
    command = ["cc", *STRICT, f"-I{prefix / 'include'}", "-o", program, SOURCE / "trainer.c", *libraries]
    subprocess.run(list(map(str, command)), check=True)
    return program
