"""The report for people: aligned text for a terminal, and a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forebay.parity.dataset import shown
from forebay.parity.difference import Tally
from forebay.parity.report import Report
from forebay.parity.versions import Versions

__all__ = ["markdown", "short", "text"]

HEAD = ("", "pictures", "equal", "greatest", "over 1", "mean", "worst picture")
# Names of refused pictures that are shown. The rest are counted.
SHOWN = 5

PAGE = """\
# Pixels beside Pillow's

Made by `forebay parity`, version {version}, beside Pillow {pillow} with libjpeg-turbo {libjpeg}{others}.

Differences are those of single channels, from 0 to 255. The table has the greatest one, the share of values that
differ by more than 1, and the mean over all values. *Equal* pictures have no difference. The worst picture has the
greatest mean, which is given beside its name. If the greatest difference is 1, the mean is the share of values that
differ.
Both sides turn pictures upright, put transparent ones on black, and keep the upper 8 of 16 bits. Pillow is told crops
and sizes. Only in evaluation, it follows torchvision's rules by itself. Magnitudes of torchvision's augmentations are
those that torchvision computes on this machine; ours are those of a CPU with AVX2 or AVX-512. torch's resizes are those
of tensors of floats, as on a GPU. For tensors of bytes on a CPU, see [transforms.md](transforms.md#whose-pixels).
"""

Row = tuple[str, ...]


def text(report: Report) -> str:
    """One dataset's tables for a terminal."""
    lines = [report.path]
    for rows in _sections(report):
        widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in range(len(HEAD))]
        lines.append("")
        for name, *numbers, worst in (HEAD, *rows):
            cells = [name.ljust(widths[0]), *(number.rjust(width) for number, width in zip(numbers, widths[1:])), worst]
            lines.append(f"  {'  '.join(cells)}".rstrip())
    lines += [line for refusal in _refusals(report) for line in ("", f"  {refusal}")]
    return "\n".join(lines) + "\n"


def markdown(version: str, versions: Versions, reports: Sequence[Report]) -> str:
    """A page with the tables of several datasets. `version` is that of this package."""
    libjpeg = versions.libjpeg or "of unknown version"
    page = [PAGE.format(version=version, pillow=versions.pillow, libjpeg=libjpeg, others=versions.others())]
    for report in reports:
        page.append(f"\n## {short(report.path)}\n")
        for rows in _sections(report):
            page.append(f"\n| {' | '.join(HEAD)} |\n|---|--:|--:|--:|--:|--:|---|\n")
            page += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows]
        page += [f"\n{refusal}\n" for refusal in _refusals(report)]
    return "".join(page)


def short(path: str) -> str:
    """A name for people: the last part of a path."""
    return path.rstrip("/").rpartition("/")[2] or path


def _sections(report: Report) -> list[list[Row]]:
    """By what was done, then by what the pictures are."""
    (whole, of_whole), *others = report.tasks.items()
    works = [
        _row(whole, of_whole),
        _row("  of them: turned by EXIF", report.turned),
        _row("  of them: gray, CMYK, palette, alpha, 16 bit", report.coloured),
        *(_row(name, tally) for name, tally in others),
    ]
    return [works, [_row(f"decode: {kind}", tally) for kind, tally in sorted(report.kinds.items())]]


def _row(name: str, tally: Tally) -> Row:
    if not tally.pictures:
        return name, "0", "-", "-", "-", "-", ""
    worst = f"{tally.worst.picture} ({_mean(tally.worst.mean)})" if tally.worst else ""
    over = f"{tally.share_over:.4%}".replace("%", " %") if tally.over else "0"
    numbers = (str(tally.pictures), str(tally.equal), str(tally.greatest), over, _mean(tally.mean))
    return (name, *numbers, worst)


def _mean(mean: float) -> str:
    """With three digits after the point, or as many as show that it is not 0."""
    return f"{mean:.6f}" if 0 < mean < 0.0005 else f"{mean:.3f}"


def _refusals(report: Report) -> Iterator[str]:
    """What has no difference because one side or both did not open it."""
    for what, found in (
        ("Pillow opens and Forebay refuses", report.refused_by_us),
        ("Forebay opens and Pillow refuses", report.refused_by_pillow),
        ("Could not be read", report.unreadable),
    ):
        if found:
            named = "".join(f"; {picture} ({shown(reason.rstrip('.'))})" for picture, reason in found[:SHOWN])
            yield f"{what}: {len(found)}{named}{'; ...' if len(found) > SHOWN else ''}."
    if report.refused_by_both:
        yield f"Refused by both: {report.refused_by_both}."
    if report.other_size:
        yield f"Of another size than Pillow's: {', '.join(report.other_size)}."
