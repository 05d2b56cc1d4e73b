"""Runs the blocks of the pages for users, or of the pages that are named, each page in a scratch folder of its own.

A block that is fenced as ```sh or ```python is run, unless its first line also says `no-run`, or says `needs-etcd`,
`needs-openssl` or `needs-elasticdl` where there is none; those are listed. What a block starts in the background goes
on for the blocks that follow, and is ended with the last.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 120
PAGES = (
    "README.md",
    "docs/image.md",
    "docs/readers.md",
    "docs/resume.md",
    "docs/service.md",
    "docs/distributed.md",
    "docs/cluster.md",
    "docs/sharding.md",
    "docs/webdataset.md",
)
RUN_BY = {"sh": ["bash", "-eu"], "python": [sys.executable]}


class Block(NamedTuple):
    """A fenced block: its page and line, its language, why it is not run if it is not, and its text."""

    page: str
    line: int
    language: str
    skipped: str
    text: str
    # Where Python finds further libraries.
    libraries: str

    def __str__(self) -> str:
        first = next((line for line in self.text.splitlines() if line and not line.startswith("#")), "")
        return f"{self.page}:{self.line} {self.language}: {first}"


def blocks(page: str) -> Iterator[Block]:
    """Those of a page that could be run."""
    text = (ROOT / page).read_text()
    for fence in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        language, tags, body = fence.groups()
        if language in RUN_BY:
            line = text.count("\n", 0, fence.start()) + 1
            libraries = os.environ.get("FOREBAY_ELASTICDL", "") if "needs-elasticdl" in tags.split() else ""
            yield Block(page, line, language, why_not(tags.split()), body, libraries)


def why_not(tags: list[str]) -> str:
    """Why a block with these tags is not run; nothing if it is."""
    if "no-run" in tags:
        return "tagged no-run"
    if (
        "needs-elasticdl" in tags
        and not (Path(os.environ.get("FOREBAY_ELASTICDL", "/nowhere")) / "elasticai_api").is_dir()
    ):
        return "elasticai_api is not installed: the package index lacks it"
    missing = [tool for tool in ("etcd", "openssl") if f"needs-{tool}" in tags and shutil.which(tool) is None]
    return f"no {missing[0]} on this machine" if missing else ""


def environment_in(scratch: Path) -> dict[str, str]:
    """An environment in which sockets and ledgers are in the scratch folder too, root's among them."""
    sockets, state = scratch / "run", scratch / "state"
    for folder in (sockets, state):
        folder.mkdir(mode=0o700)
    return {
        **os.environ,
        "HOME": str(scratch),
        "XDG_RUNTIME_DIR": str(sockets),
        "RUNTIME_DIRECTORY": str(sockets / "forebay"),
        "STATE_DIRECTORY": str(state),
    }


def run(block: Block, folder: Path, environment: dict[str, str], groups: list[int]) -> bool:
    """Runs a block in a process group of its own, and shows what it said where it failed."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            RUN_BY[block.language] + ["-c", block.text],
            cwd=folder,
            env={**environment, "PYTHONPATH": block.libraries} if block.libraries else environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        groups.append(process.pid)
        try:
            status = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            status = f"no end after {LIMIT} s"
        if status != 0:
            output.seek(0)
            print(f"{output.read()}(status {status})")
        return status == 0


def main(pages: Sequence[str]) -> int:
    """Runs these pages. Their paths start from the root."""
    return 1 if sum(map(run_page, pages)) else 0


def run_page(page: str) -> int:
    """Runs a page's blocks, ends what they left running, and says how each went. Gives how many failed."""
    failed = 0
    groups: list[int] = []
    with tempfile.TemporaryDirectory(prefix="forebay-readme-") as scratch:
        folder = Path(scratch) / "work"
        folder.mkdir()
        environment = environment_in(Path(scratch))
        try:
            for block in blocks(page):
                if block.skipped:
                    print(f"skipped: {block} ({block.skipped})", flush=True)
                    continue
                well = run(block, folder, environment, groups)
                failed += not well
                print(f"{'passed' if well else 'failed'}: {block}", flush=True)
        finally:
            for group in groups:
                end(group)
    return failed


def end(group: int) -> None:
    """Kills what is left of a process group."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PAGES))
