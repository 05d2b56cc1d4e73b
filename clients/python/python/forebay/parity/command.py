"""The command line of `forebay parity`: it prints a table of each dataset, and draws the worst pictures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from forebay._native import __version__
from forebay.errors import DatasetError
from forebay.parity import table
from forebay.parity.dataset import records, shown
from forebay.parity.published import PUBLISHERS, LibraryMissing, recipes

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command with these arguments, or else with those of the process.

    Exit code 1: a dataset cannot be read, a library is missing, or a file cannot be written. 2: an argument is wrong.
    """
    options = _parser().parse_args(arguments)
    try:
        import PIL  # noqa: F401 - whether it is there
    except ImportError as error:
        sys.exit(
            f"forebay: {sys.executable} gives no pixels of Pillow's to compare with: {error}. Install it: "
            f"{sys.executable} -m pip install pillow"
        )
    try:
        _run(options)
    except DatasetError as error:
        sys.exit(f"forebay: {error}")
    except OSError as error:
        sys.exit(f"forebay: {error.filename or 'output'}: {error.strerror or error}")


def _run(options: argparse.Namespace) -> None:
    # Those who have no Pillow get its absence told above.
    from forebay.parity import pillow
    from forebay.parity.comparison import Comparison
    from forebay.parity.tasks import common, planned

    versions = pillow.versions()
    compared = common(versions.torch is not None)
    for publisher in dict.fromkeys(options.recipe):
        try:
            compared += [planned(recipe) for recipe in recipes(publisher, versions)]
        except LibraryMissing as error:
            sys.exit(f"forebay: {error}")
    # Refused before there is any work to lose.
    for file in filter(None, (options.output, options.markdown)):
        os.stat(file.parent)
    comparison, reports = Comparison(compared), []
    for path in options.paths:
        report = comparison.dataset(path, records(path)[: options.limit])
        print(table.text(report), end="", flush=True)
        reports.append(report)
    if options.markdown:
        options.markdown.write_text(table.markdown(__version__, versions, reports))
    if sheet := comparison.sheet.draw():
        sheet.save(options.output)
        print(f"\n{shown(str(options.output))}: ours, Pillow's, and the difference made visible")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="forebay parity", description="Compare our pixels with Pillow's on your own pictures."
    )
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="folder of pictures, .csv file or .txt list. Each gets its own table. If torch is installed, resizes with "
        'match = "torch" are compared with torch\'s',
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=_png,
        default=Path("parity.png"),
        help="PNG file to write: for each comparison, the worst part of the worst picture, as ours, Pillow's and the "
        "difference (default: %(default)s)",
    )
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="also write the tables to this Markdown file")
    parser.add_argument("--limit", metavar="COUNT", type=_count, help="compare only this many pictures of each path")
    parser.add_argument(
        "--recipe",
        action="append",
        choices=PUBLISHERS,
        default=[],
        help="also compare these recipes, step by step, with the parameters that Forebay draws. All but yolo need "
        "torchvision. yolo is also compared with OpenCV, if it is installed. May be repeated",
    )
    return parser


def _png(name: str) -> Path:
    if not name.lower().endswith(".png"):
        raise argparse.ArgumentTypeError("only PNG is written; give a name that ends with .png")
    return Path(name)


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of pictures")
    return number
