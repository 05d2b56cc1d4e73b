"""Runs the parts asked for, or all, each in a process of its own and within its time: whatever ends one, others run."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from gpu import probe, trials
from gpu.forebay import Forebay, MissingError
from gpu.parts import PARTS, run
from gpu.probe import Found
from gpu.results import Results
from gpu.task import Lengths, Task

FOLDER = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """The exit code: 1 where a GPU was asked for and there is none, or something failed."""
    options = _options()
    if options.merge:
        return _merged(options)
    # nvJPEG of this Python's packages is what its daemons are to find as well.
    os.environ["VIRTUAL_ENV"] = sys.prefix
    if options.required:
        os.environ["GPU_REQUIRED"] = "1"
    try:
        forebay = Forebay.found()
        found = probe.run(forebay)
        if options.alone is None:
            print(found.text, flush=True)
        if found.gpu is None:
            print("No GPU decodes on this machine: nothing is measured, and nothing is written.")
            return 1 if _required() else 0
        with forebay.pictures(options.pictures) as pictures:
            return _measured(options, forebay, found, pictures)
    except MissingError as missing:
        print(missing, file=sys.stderr)
        return 1


def _options() -> argparse.Namespace:
    usual = Lengths()
    arguments = argparse.ArgumentParser(prog="benches/gpu/run", description=__doc__)
    arguments.add_argument("--part", choices=PARTS, action="append", help="this part only; may be repeated")
    arguments.add_argument("--call", type=int, choices=(1, 2), help="the parts of a call on a machine that is lent")
    arguments.add_argument("--results", type=Path, default=FOLDER, metavar="FOLDER", help="where figures are written")
    arguments.add_argument("--pictures", type=Path, help="a folder of up to 300 JPEGs; without it they are generated")
    arguments.add_argument("--seconds", type=int, default=usual.seconds, help="length of one measurement")
    arguments.add_argument("--rounds", type=int, default=usual.rounds, help="measurements of each lane, in turn")
    arguments.add_argument("--soak-seconds", type=int, default=usual.soak_seconds, help="length of the soak")
    arguments.add_argument("--required", action="store_true", help="a machine without a GPU is a failure")
    arguments.add_argument(
        "--merge", type=Path, nargs="+", metavar="JSON", help="add up files of several calls, no more"
    )
    arguments.add_argument("--alone", choices=PARTS, help=argparse.SUPPRESS)
    return arguments.parse_args()


def _required() -> bool:
    return os.environ.get("GPU_REQUIRED") == "1"


def _measured(options: argparse.Namespace, forebay: Forebay, found: Found, pictures: list[Path]) -> int:
    def task() -> Task:
        """With what the parts have written so far."""
        assert found.gpu is not None
        lengths = Lengths(seconds=options.seconds, rounds=options.rounds, soak_seconds=options.soak_seconds)
        results = Results.opened(found.gpu, options.results, found.conditions, _required())
        return Task(forebay, found, pictures, lengths, results)

    if options.alone is not None:
        run(options.alone, task())
        return 0
    for name in options.part or [name for name, part in PARTS.items() if options.call in (None, part.call)]:
        trials.let_untested_lanes_measure(task())
        limit = _limit(name, options)
        print(f"== {name}, {limit:.0f} s at most", flush=True)
        if (wrong := _in_a_process(name, options, pictures, limit)) is not None:
            last = task().results
            last.failed(name, wrong)
            last.write()
    results = task().results
    print(results.write())
    for target in results.figures()["targets"]:
        print(f"{target['target']}: {target['value']} (goal {target['goal']})")
    for part, reason in results.failures.items():
        print(f"{part} failed: {reason}", file=sys.stderr)
    return 1 if results.failures else 0


def _limit(name: str, options: argparse.Namespace) -> float:
    """In seconds: more where longer measurements are asked for than a loan has."""
    usual = Lengths()
    longer = max(1.0, options.seconds * options.rounds / (usual.seconds * usual.rounds))
    return max(PARTS[name].limit * longer, options.soak_seconds + 60 if name == "soak" else 0)


def _in_a_process(name: str, options: argparse.Namespace, pictures: list[Path], limit: float) -> str | None:
    """Runs a part on these pictures, and says how it was ended, if it did not end itself."""
    # Generated ones stand in several folders.
    folder = options.pictures or os.path.commonpath([picture.parent for picture in pictures])
    passed_on = {
        "--pictures": folder,
        "--results": options.results,
        "--seconds": options.seconds,
        "--rounds": options.rounds,
        "--soak-seconds": options.soak_seconds,
    }
    words = [str(word) for option in passed_on.items() for word in option]
    command = [sys.executable, "-m", "gpu", "--alone", name, *words]
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return f"it took more than {limit:.0f} s"
        finally:
            # Whatever it has started goes with it.
            _kill_group(process.pid)
    return None if code == 0 else f"its process has ended with {code}"


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _merged(options: argparse.Namespace) -> int:
    """Figures of several calls as one page, where each of them wrote a folder of its own."""
    found = [json.loads(file.read_text()) for file in options.merge]
    results = Results.opened(found[0]["gpu"], options.results, found[-1]["conditions"])
    for figures in found:
        results.merge(figures)
    print(results.write())
    return 0


if __name__ == "__main__":
    sys.exit(main())
