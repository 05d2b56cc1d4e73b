"""Prints microseconds of each operation beside the peers', and pictures per second of whole decodes, one thread."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compare.venvs import UnavailableError, Venvs
from compare.works import photographs
from measuring.machine import cores_and_load, processor
from operations import DECODERS, FUNCTIONS, OPERATIONS, OURS, Peer, decode_goal, medians, operation_goals, ratios

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "target"
# A library that would use more threads uses one.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def main() -> None:
    """Measures all peers in turn, round after round."""
    args = arguments()
    wheel = max(args.wheels.glob("forebay-*.whl"), key=lambda path: path.stat().st_mtime, default=None)
    venvs = Venvs(args.target / "venvs", wheel)
    functions, decoders = (present(peers, venvs, args.installed) for peers in (FUNCTIONS, DECODERS))
    files = photographs(args.data) if args.data else generated(args.target)
    print(f"{processor()}, {cores_and_load()}, {args.rounds} rounds\n")

    job = {"seconds": args.seconds, "files": []}
    figures = measured(functions, job, args.rounds)
    print_operations(figures, [peer.name for peer, _ in functions])
    rates = measured(decoders, {**job, "files": files}, args.rounds)
    decoded = {name: found["decode"] for name, found in rates.items() if "decode" in found}
    print(f"\nwhole decode of {len(files)} JPEG files in memory to RGB, pictures per second on one thread")
    for name, rate in sorted(decoded.items(), key=lambda pair: -pair[1]):
        print(f"{name:18}{rate:10,.0f}")
    print(decode_goal(decoded))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="benches/recipes/run", description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="folder of photographs, JPEG (default: generated ones)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each operation of a peer in each round")
    parser.add_argument("--target", type=Path, default=TARGET / "compare", help="environments and made pictures")
    parser.add_argument("--wheels", type=Path, default=TARGET / "wheels" / "release")
    parser.add_argument("--installed", action="store_true", help="install nothing: missing peers have no figures")
    args = parser.parse_args()
    args.target = args.target.resolve()
    return args


def present(peers: Sequence[Peer], venvs: Venvs, installed: bool) -> list[tuple[Peer, Path]]:
    """The peers that can be measured, with their interpreters. Says why the others cannot."""
    found = []
    for peer in peers:
        try:
            if installed and peer.name != OURS and not venvs.has(peer.venv, peer.packages):
                raise UnavailableError("it is not installed; run benches/recipes/run")
            found.append((peer, venvs.python(peer.venv, peer.packages)))
        except UnavailableError as error:
            print(f"{peer.name}: not measured: {error}")
    return found


def generated(target: Path) -> list[str]:
    """Photographs that are made once."""
    folder = target / "recipes"
    if not folder.is_dir():
        subprocess.run([TARGET / "release" / "forebay", "sample", folder, "--count", "200"], check=True)
    return photographs(folder)


def measured(peers: Sequence[tuple[Peer, Path]], job: dict[str, object], rounds: int) -> dict[str, dict[str, float]]:
    """The medians of each peer, each round in a process of its own, on one core."""
    found: dict[str, list[dict[str, float]]] = {peer.name: [] for peer, _ in peers}
    core = min(os.sched_getaffinity(0))
    for _ in range(rounds):
        for peer, python in peers:
            done = subprocess.run(
                [python, HERE / "peers" / peer.script, json.dumps(job)],
                stdout=subprocess.PIPE,
                text=True,
                check=False,
                env={**os.environ, **ONE_THREAD},
                preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            )
            if done.returncode:
                raise SystemExit(f"{peer.name}: ended with status {done.returncode}")
            found[peer.name].append(json.loads(done.stdout.splitlines()[-1]))
    return {name: medians(each) for name, each in found.items()}


def print_operations(figures: dict[str, dict[str, float]], names: Sequence[str]) -> None:
    """A row for each operation, and the goals."""
    found = ratios(figures)
    print(f"microseconds on 224 x 224, one thread{'':20}" + "".join(f"{name:>17}" for name in names) + f"{'ratio':>8}")
    for name, parameters in OPERATIONS.items():
        cells = (f"{figures[peer][name]:17,.1f}" if name in figures[peer] else f"{'-':>17}" for peer in names)
        ratio = f"{found[name]:8.2f}" if name in found else f"{'-':>8}"
        print(f"{f'{name} ({parameters})' if parameters else name:57}" + "".join(cells) + ratio)
    print("\n".join(operation_goals(found)))


if __name__ == "__main__":
    main()
