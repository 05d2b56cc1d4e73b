"""Compares docs/configuration.md with what the code says, or writes it anew with --write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "configuration.md"
HEAD = """\
# Configuration

<!-- Made by `make docs` from `forebay config --example`; a test compares. Change the code, not this file. -->

`forebay serve --config FILE` reads TOML. Unknown keys are refused, and every mistake is reported at once, with the
line, the key, what is wrong and what is allowed. `forebay config --check FILE` does that, and says which datasets,
groups and memory this machine does not have. `forebay serve PATH` is the configuration below with one stream named
`default`: PATH, shuffled, at 224 x 224.

A `[streams.NAME]` table has the arguments of `forebay.Loader` as keys, with the same defaults. A test compares them.
Only a table has `fill`, `shard_size`, `trainers`, `credits` and `group`. Only a Loader has `shard_id`, `rank`,
`world_size`, `socket` and `random_shuffle`. A daemon has one value of `lanes`, `pixel_limit` and `byte_limit` for all
its streams, in `[decode]`.

A Loader that attaches to `stream:NAME` may leave settings out. Those that it gives must agree with the stream's.

What follows is what `forebay config --example` prints.

```toml
"""


def main() -> None:
    """Compares or writes."""
    binary = os.environ.get("FOREBAY_BIN", ROOT / "target" / "debug" / "forebay")
    fresh = (
        HEAD
        + subprocess.run([binary, "config", "--example"], check=True, stdout=subprocess.PIPE, text=True).stdout
        + "```\n"
    )
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(fresh)
    elif not DOCUMENT.exists() or DOCUMENT.read_text() != fresh:
        sys.exit(f"{DOCUMENT.relative_to(ROOT)} is not what the code says: run `make docs`")


if __name__ == "__main__":
    main()
