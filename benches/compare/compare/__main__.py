"""`compare DATA`: installs the peers, runs the rounds, writes results.json, results.md, results.svg and results.png."""

from __future__ import annotations

import argparse
from pathlib import Path

from compare import chart, table
from compare.conditions import conditions
from compare.contest import Results, Settings, hold, raw
from compare.entrants import ENTRANTS, Entrant
from compare.mosaic import stitched
from compare.venvs import UnavailableError, Venvs
from compare.works import WORKS, photographs

ROOT = Path(__file__).resolve().parents[3]


def main() -> None:
    """The whole of it."""
    args = arguments()
    entrants = chosen(args.only)
    venvs = Venvs(args.target / "venvs", newest(args.wheels, "forebay-*.whl"))
    failed = install(entrants, venvs)
    if args.install_only:
        print("\n".join(f"{name}: {reason}" for name, reason in failed.items()) or "everything is installed")
        return
    args.out.mkdir(parents=True, exist_ok=True)
    files = photographs(args.data)
    works = [WORKS[name] for name in (args.work or WORKS)]
    big = stitched(files, args.target / "big") if any(work.big for work in works) else []
    settings = Settings(args.threads, args.rounds, args.seconds, args.warm, args.target, args.bare)
    for path in files + big:
        Path(path).read_bytes()  # into the page cache
    known = conditions(settings, files, entrants, venvs)

    def write(results: Results) -> None:
        (args.out / "results.json").write_text(raw(results, settings, known, entrants))

    results = hold([(work, big if work.big else files) for work in works], entrants, settings, venvs, write)
    outcomes = {work.name: results.outcomes(work, entrants) for work in works}
    page = table.markdown(known, works, entrants, outcomes)
    (args.out / "results.md").write_text(page)
    chart.draw(works, entrants, outcomes, [args.out / "results.svg", args.out / "results.png"])
    print(f"\n{page}\nwritten: {args.out}/results.md, .json, .svg, .png")


def arguments() -> argparse.Namespace:
    """The command line."""
    target = ROOT / "target"
    parser = argparse.ArgumentParser(prog="compare", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of photographs, JPEG")
    parser.add_argument("--work", choices=WORKS, action="append", help="give it again for another (default: all)")
    parser.add_argument("--threads", type=int, default=2, help="decoding threads or processes, and cores (default: 2)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0, help="measured in each turn")
    parser.add_argument("--warm", type=float, default=3.0, help="seconds before that")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="entrants whose name begins so")
    parser.add_argument("--target", type=Path, default=target / "compare", help="environments and made pictures")
    parser.add_argument("--wheels", type=Path, default=target / "wheels" / "release")
    parser.add_argument("--bare", type=Path, default=target / "release" / "examples" / "bare", help="the bare loop")
    parser.add_argument("--out", type=Path, default=target / "compare" / "results")
    parser.add_argument("--install-only", action="store_true", help="install the peers and measure nothing")
    args = parser.parse_args()
    args.target, args.out = args.target.resolve(), args.out.resolve()
    return args


def chosen(only: list[str]) -> list[Entrant]:
    """All, or those whose names begin with one of these."""
    begins = tuple(name.lower() for name in only) or ("",)
    found = [entrant for entrant in ENTRANTS if entrant.name.lower().startswith(begins)]
    if not found:
        raise SystemExit(f"compare: there is no entrant {only}; there are {', '.join(e.name for e in ENTRANTS)}")
    return found


def install(entrants: list[Entrant], venvs: Venvs) -> dict[str, str]:
    """All before the first measurement: pip must not run beside it. Gives the reasons of those that failed."""
    failed = {}
    for entrant in entrants:
        try:
            if entrant.venv:
                venvs.python(entrant.venv, *entrant.requirements)
        except UnavailableError as error:
            failed[entrant.name] = str(error)
    return failed


def newest(folder: Path, pattern: str) -> Path | None:
    """The file of a folder that was written last."""
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime, default=None)


if __name__ == "__main__":
    main()
