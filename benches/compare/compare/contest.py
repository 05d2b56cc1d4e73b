"""Rounds in which every entrant has its turn, each in a process of its own on the same cores."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compare.entrants import Entrant
from compare.figures import Outcome, outcome
from compare.venvs import UnavailableError, Venvs
from compare.works import Work

SCRIPTS = Path(__file__).resolve().parent.parent / "entrants"
# What an entrant may take beyond what it measures: imports, compilation, and writing its own format once.
PATIENCE = 600


@dataclass(frozen=True)
class Settings:
    """How it is measured, the same for all."""

    threads: int
    rounds: int
    seconds: float
    warm: float
    folder: Path
    bare: Path


@dataclass
class Results:
    """What came of each turn, in order."""

    turns: list[dict[str, Any]] = field(default_factory=list)

    def outcomes(self, work: Work, entrants: Sequence[Entrant]) -> dict[str, Outcome]:
        """By entrant."""
        found = {}
        for entrant in entrants:
            mine = [t for t in self.turns if (t["work"], t["entrant"]) == (work.name, entrant.name)]
            rates = [t["pictures"] / t["seconds"] for t in mine if "pictures" in t]
            found[entrant.name] = outcome(rates, [t["reason"] for t in mine if "reason" in t])
        return found


def hold(
    works: Sequence[tuple[Work, list[str]]],
    entrants: Sequence[Entrant],
    settings: Settings,
    venvs: Venvs,
    after: Callable[[Results], None],
) -> Results:
    """All rounds of all works. `after` sees the results after every turn, so that a long run can be cut short."""
    results = Results()
    out: set[tuple[str, str]] = set()
    for number in range(settings.rounds):
        for work, files in works:
            taking_part = [entrant for entrant in entrants if work.name in entrant.works]
            # Another one begins each round: who follows whom is no constant advantage.
            first = number % len(taking_part) if taking_part else 0
            for entrant in taking_part[first:] + taking_part[:first]:
                if (work.name, entrant.name) in out:
                    continue
                turn = one(entrant, work, files, settings, venvs)
                if "reason" in turn:
                    out.add((work.name, entrant.name))
                results.turns.append({"round": number, "work": work.name, "entrant": entrant.name, **turn})
                said = turn.get("reason") or f"{turn['pictures'] / turn['seconds']:9.1f} pictures/s"
                print(f"round {number + 1} of {settings.rounds}  {work.name:6}  {entrant.name:32} {said}", flush=True)
                after(results)
    return results


def one(entrant: Entrant, work: Work, files: list[str], settings: Settings, venvs: Venvs) -> dict[str, Any]:
    """One turn: pictures and seconds, or the reason why there are none."""
    job = {
        "files": files,
        "task": work.task,
        "threads": settings.threads,
        "batch": work.batch,
        "seconds": settings.seconds,
        "warm": settings.warm,
        "warm_pictures": entrant.passes * len(files),
        "folder": str(settings.folder),
        "options": entrant.options,
    }
    try:
        command = command_of(entrant, settings, venvs)
    except UnavailableError as error:
        return {"reason": str(error)}
    return turn(command, job, settings)


def command_of(entrant: Entrant, settings: Settings, venvs: Venvs) -> list[str]:
    """What is run, without the job."""
    if entrant.script == "bare":
        if not settings.bare.is_file():
            raise UnavailableError("no bare loop was found: run `make compare`")
        return [str(settings.bare)]
    return [str(venvs.python(entrant.venv, *entrant.requirements)), str(SCRIPTS / entrant.script)]


def turn(command: list[str], job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Runs one process to its end, on as many cores as it has threads."""
    cores = sorted(os.sched_getaffinity(0))[: settings.threads]
    with subprocess.Popen(
        [*command, json.dumps(job)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    ) as process:
        try:
            out, said = process.communicate(timeout=settings.seconds + settings.warm + PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {"reason": f"it took more than {PATIENCE} s longer than it was to measure"}
        finally:
            end_group(process.pid)
    return read(out, said, process.returncode)


def end_group(leader: int) -> None:
    """Ends what an entrant left behind, such as worker processes."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def read(out: str, said: str, status: int) -> dict[str, Any]:
    """The result stands in the last line of standard output."""
    try:
        found = json.loads(out.strip().splitlines()[-1])
        return {"pictures": int(found["pictures"]), "seconds": float(found["seconds"])}
    except (IndexError, KeyError, TypeError, ValueError):
        last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it says nothing")
        return {"reason": f"ended with status {status}: {last}"}


def raw(results: Results, settings: Settings, conditions: dict[str, str], entrants: Sequence[Entrant]) -> str:
    """Everything that was measured, as JSON."""
    known = {"conditions": conditions, "settings": {**asdict(settings), "folder": None, "bare": None}}
    return json.dumps({**known, "entrants": [asdict(e) for e in entrants], "turns": results.turns}, indent=1) + "\n"
