"""The results as bars, one panel per work; SVG and PNG. matplotlib is in the runner's environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from compare.entrants import Entrant
from compare.figures import Outcome
from compare.works import Work

COLOURS = {"ours": "#1f6f8b", "peer": "#9aa5b1", "tuned": "#c9b79c", "limit": "#e3e7eb"}
KINDS = {"ours": "Forebay", "peer": "as documented", "tuned": "tuned", "limit": "limit: no loader"}


def draw(
    works: Sequence[Work],
    entrants: Sequence[Entrant],
    outcomes: Mapping[str, Mapping[str, Outcome]],
    paths: Sequence[Path],
) -> None:
    """Writes the chart to every path; its ending says the format."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    panels = [(work, bars(entrants, outcomes[work.name])) for work in works]
    heights = [max(len(panel), 1) for _, panel in panels]
    size = (9, 1.6 + 0.34 * sum(heights))
    figure, axes = pyplot.subplots(
        len(panels), 1, figsize=size, height_ratios=heights, squeeze=False, layout="constrained"
    )
    for axis, (work, panel) in zip(axes[:, 0], panels):
        names = [entrant.name for entrant, _ in panel]
        medians = [f.median for _, f in panel]
        errors = [[f.median - f.least for _, f in panel], [f.most - f.median for _, f in panel]]
        colours = [COLOURS[entrant.kind] for entrant, _ in panel]
        drawn = axis.barh(names, medians, xerr=errors, color=colours, ecolor="#555555", capsize=2)
        axis.bar_label(drawn, [f"{m:,.0f}" if m >= 100 else f"{m:.1f}" for m in medians], padding=6, fontsize=8)
        axis.set_title(f"{work.name}: {work.says}", fontsize=9, loc="left")
        axis.invert_yaxis()
        axis.margins(x=0.12)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1, 0].set_xlabel("pictures per second (median; lines: least and most of the rounds)", fontsize=8)
    figure.legend(
        handles=[Patch(color=COLOURS[kind], label=KINDS[kind]) for kind in COLOURS],
        loc="outside lower center",
        ncols=len(COLOURS),
        fontsize=8,
        frameon=False,
    )
    for path in paths:
        figure.savefig(path, dpi=150)
    pyplot.close(figure)


def bars(entrants: Sequence[Entrant], outcomes: Mapping[str, Outcome]) -> list:
    """Entrants with a figure, the fastest first."""
    found = [(e, o.figure) for e in entrants if (o := outcomes.get(e.name)) and o.figure]
    return sorted(found, key=lambda pair: -pair[1].median)
