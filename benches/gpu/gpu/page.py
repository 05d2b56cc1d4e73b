"""The page of a machine's figures, made of what is written as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

Figures = dict[str, Any]
Row = dict[str, Any]


def page(figures: Figures) -> str:
    """Markdown."""
    sections = (
        _rates,
        _targets,
        _failures,
        _processor,
        _bare,
        _tests,
        _rows("pixels", "Difference to Pillow, in levels of 255", _difference),
        _rows("draws", "Random crops by GPU lanes beside the CPU lane's, in levels of 255", _crops),
        _sheet,
        _rows("dali", "DALI by its settings, and then by turns with streams of ours", _peer),
        _rows("copies", "GB/s to the GPU, the median, by where a batch stands", _copies),
        _rows("training", "Milliseconds of a step of ResNet-50, by where its pictures come from", _step),
        _rows("kills", "A trainer and a daemon killed while they hold a GPU ring", _kill),
        _rows("soak_growth", "Memory over the soak", _growth),
        _rows("compute_sanitizer", "compute-sanitizer", _sanitizer),
        _conditions,
    )
    return f"# {figures['gpu']}\n" + "".join(f"\n{line}" for section in sections for line in section(figures)) + "\n"


def _rates(figures: Figures) -> Iterator[str]:
    yield from ("| pictures/s | median | rounds |", "|---|---|---|")
    for name, rate in figures["images_per_second"].items():
        shown = f"{rate:.0f}" if rate is not None else f"none: {figures['reasons'].get(name, 'no reason is known')}"
        yield f"| {name} | {_in_cell(shown)} | {', '.join(f'{rate:.0f}' for rate in figures['rounds'][name])} |"
    yield ""


def _targets(figures: Figures) -> Iterator[str]:
    yield from ("| target | goal | value | met |", "|---|---|---|---|")
    for row in figures["targets"]:
        value = "not measured" if row["value"] is None else f"{row['value']:.3g}"
        met = {None: "-", True: "yes", False: "**no**"}[row["met"]]
        yield f"| {row['target']} | {'at least' if row['at_least'] else 'at most'} {row['goal']} | {value} | {met} |"
    yield ""


def _failures(figures: Figures) -> Iterator[str]:
    for part, reason in figures["failures"].items():
        yield from (f"**{part} failed:** {reason}", "")


def _processor(figures: Figures) -> Iterator[str]:
    if not figures["cpu_seconds_per_thousand"]:
        return
    yield from ("| lane | processor seconds per thousand pictures | cores | MiB of the GPU |", "|---|---|---|---|")
    taken = {row["name"]: row["gpu_mib"] for row in figures["tables"].get("lanes", [])}
    for name, seconds in figures["cpu_seconds_per_thousand"].items():
        yield f"| {name} | {seconds:.2f} | {figures['cores'][name]:.2f} | {taken.get(name) or '-'} |"
    yield ""


def _bare(figures: Figures) -> Iterator[str]:
    """The best pair of each lane and form; the JSON has all."""
    best: dict[tuple[str, str], Row] = {}
    for row in figures["tables"].get("bare", []):
        key = row["lane"], row["form"]
        best[key] = max(row, best.get(key, row), key=lambda row: row["rate"])
    if best:
        yield from ("Bare loops of nvJPEG, the best of each:", "")
    for (lane, form), row in best.items():
        yield f"- {lane}, {form}: {row['rate']} pictures/s with {row['states']} states and batches of {row['batch']}"
    yield ""


def _tests(figures: Figures) -> Iterator[str]:
    for row in figures["tables"].get("tests", []):
        yield f"- {row['lane']}: {row['outcome']}"
    yield ""


def _sheet(figures: Figures) -> Iterator[str]:
    for row in figures["tables"].get("sheet", []):
        yield from (f"![The same records by each lane]({row['file']})", "")


def _rows(table: str, title: str, line: Callable[[Row], str]) -> Callable[[Figures], Iterator[str]]:
    """A list with a line for each row, or the reason why there is none."""

    def section(figures: Figures) -> Iterator[str]:
        yield from (f"{title}:", "")
        rows = figures["tables"].get(table, [])
        yield from (f"- {line(row)}" for row in rows)
        if not rows:
            yield f"- none: {figures['reasons'].get(table, 'its part did not run')}"
        yield ""

    return section


def _difference(row: Row) -> str:
    return "{lane}, {sampling}: up to {worst}, {mean:.4f} on average, {pictures} pictures".format(**row)


def _crops(row: Row) -> str:
    return "{lane}: up to {worst:.3g}, {mean:.4f} on average, {pictures} pictures".format(**row)


def _copies(row: Row) -> str:
    return f"{row['from']}: {statistics.median(row['gb_per_second']):.1f}"


def _peer(row: Row) -> str:
    return "{name}, {kind}: {rate:.0f} pictures/s, {cpu_seconds_per_thousand:.2f} s of a processor per thousand".format(
        **row
    )


def _step(row: Row) -> str:
    return f"{row['pictures']}: {statistics.median(row['milliseconds']):.2f}"


def _kill(row: Row) -> str:
    return f"{row['when']}: " + ", ".join(f"{key} {value}" for key, value in row.items() if key != "when")


def _growth(row: Row) -> str:
    return "the host's {host_mib} MiB, the GPU's {gpu_mib} MiB more at the end than when warm, {seconds} s".format(
        **row
    )


def _sanitizer(row: Row) -> str:
    return "{tool}, forebay {command}: {told}".format(**row)


def _conditions(figures: Figures) -> Iterator[str]:
    for name, part in figures["parts"].items():
        yield f"- {name}: {part['seconds']:.0f} s, load before {part['load']}"
    conditions = figures["conditions"]
    yield from (f"- {key}: {value}" for key, value in conditions.items() if key != "doctor")
    yield from ("", "```text", conditions.get("doctor", "").rstrip(), "```")


def _in_cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
