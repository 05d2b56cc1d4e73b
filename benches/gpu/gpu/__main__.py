"""Runs the parts that are asked for, or all that fit, and writes what came of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpu import draws, kills, lanes, peers, pixels, probe, report, ring, soak, trials
from gpu.forebay import Forebay, MissingError

PARTS = ("probe", "lanes", "peers", "ring", "soak")


def main() -> int:
    """The exit code: 1 where a GPU was asked for and there is none, or a part failed."""
    arguments = argparse.ArgumentParser(prog="benches/gpu/run", description=__doc__)
    arguments.add_argument("--part", choices=PARTS, action="append", help="this part only; may be repeated")
    arguments.add_argument("--pictures", type=Path, help="a folder of up to 300 JPEGs; without it they are generated")
    arguments.add_argument("--seconds", type=int, default=8, help="length of one measurement")
    arguments.add_argument("--rounds", type=int, default=3, help="measurements of each lane, in turn")
    arguments.add_argument("--soak-seconds", type=int, default=300, help="length of the soak")
    arguments.add_argument("--required", action="store_true", help="a machine without a GPU is a failure")
    options = arguments.parse_args()
    parts = options.part or list(PARTS)
    try:
        forebay = Forebay.found()
    except MissingError as missing:
        print(missing, file=sys.stderr)
        return 1
    found = probe.run(forebay)
    print(found.text)
    if not found.gpu:
        print("No GPU decodes on this machine: nothing is measured, and nothing is written.")
        return 1 if options.required or forebay.gpu_required else 0
    results = report.Results(found, required=options.required or forebay.gpu_required)
    trials.run(forebay, results)
    with forebay.pictures(options.pictures) as pictures:
        if "probe" in parts:
            trials.sanitized(forebay, pictures, results)
        if "lanes" in parts:
            lanes.run(forebay, pictures, options, results)
            pixels.run(forebay, pictures, results)
            draws.run(forebay, pictures, results)
        if "peers" in parts:
            peers.run(pictures, options, results)
        if "ring" in parts:
            ring.run(forebay, pictures, options, results)
            kills.run(forebay, pictures, results)
        if "soak" in parts:
            soak.run(forebay, pictures, options.soak_seconds, results)
    print(results.write())
    for part, reason in results.failures.items():
        print(f"{part} failed: {reason}", file=sys.stderr)
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
