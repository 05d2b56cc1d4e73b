"""Checks that deploy/kubernetes/plain.yaml and the chart's alerts are current; with `--write`, writes them anew."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KUBERNETES = ROOT / "deploy" / "kubernetes"
CHART = KUBERNETES / "forebay"
HEAD = """\
# Forebay for clusters without Helm: daemons, one coordinator with a token, and metrics. docs/kubernetes.md explains it.
# `make chart` renders this file from the chart in forebay/ with plain-values.yaml: change those.
"""


def plain(helm: Path) -> str:
    """The chart with the values of plain-values.yaml, without the labels by which Helm knows its own."""
    values = ("--namespace", "forebay", "--values", KUBERNETES / "plain-values.yaml")
    done = subprocess.run([helm, "template", "forebay", CHART, *values], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"chart.py: {done.stderr.strip()}")
    lines = [line.rstrip() for line in done.stdout.splitlines() if not re.search("managed-by: |helm.sh/chart: ", line)]
    # Blank lines between objects come and go with the version of Helm.
    return HEAD + re.sub(r"\n+---\n", "\n---\n", "\n".join(lines)).strip() + "\n"


def main(write: bool) -> int:
    """Compares or writes the files that are made of others."""
    found = subprocess.run([ROOT / "scripts" / "kubernetes.sh"], capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"chart.py: {found.stderr.strip()}")
    made = {
        KUBERNETES / "plain.yaml": plain(Path(found.stdout.strip()) / "helm"),
        CHART / "files" / "forebay.rules.yml": (ROOT / "deploy" / "prometheus" / "forebay.rules.yml").read_text(),
    }
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text() != text]
    for path in stale:
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(made[path])
        else:
            print(f"{path.relative_to(ROOT)} is not what `make chart` writes")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
