"""Packs pictures into every format, and reads each by Forebay, by a bare loop, and by its original library."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring.pictures import JPEG
from measuring.pictures import pictures as pictures_below
from originals import FORMATS, Format

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3


def main(folder: str) -> None:
    """Prints a row for each format."""
    files = pictures_below(Path(folder), (*JPEG, ".png"))
    pictures = [path.read_bytes() for path in files]
    labels = [number % 7 for number in range(len(pictures))]
    total = sum(map(len, pictures)) / 1e6
    print(f"{len(pictures)} pictures, {total:.0f} MB; two threads of Forebay's, and the original library as it is")
    print("the bare loop reads the stored bytes, and neither decompresses them nor compares checksums")
    print("bytes: those of a shuffled epoch, over those of an ordered one")
    print(f"{'format':24}{'records/s':>12}{'MB/s':>8}{'of a bare loop':>16}{'of the original':>17}{'bytes':>8}")
    for each in FORMATS:
        if missing := [name for name in each.packages if importlib.util.find_spec(name) is None]:
            print(f"{each.name:24}skipped: {', '.join(missing)} is not installed")
            continue
        with tempfile.TemporaryDirectory() as place:
            source = each.write(Path(place), pictures, labels).source
            ours = json.loads(subprocess.check_output([ROOT / "target/release/examples/read", source]))
            theirs = min(read(each, Path(place)) for _ in range(ROUNDS)) if each.read else None
        rate = ours["records"] / ours["seconds"]
        bare = ours["bare_seconds"] / ours["seconds"]
        original = f"{theirs / ours['seconds']:.1f} x" if theirs else "-"
        megabytes = ours["bytes"] / ours["seconds"] / 1e6
        shuffled = ours["shuffled_bytes"] / ours["ordered_bytes"]
        print(f"{each.name:24}{rate:12,.0f}{megabytes:8,.0f}{bare:16.2f}{original:>17}{shuffled:8.3f}", flush=True)


def read(each: Format, place: Path) -> float:
    """Seconds that the original library takes."""
    began = time.perf_counter()
    assert len(each.read(place)) > 0
    return time.perf_counter() - began


if __name__ == "__main__":
    main(sys.argv[1])
