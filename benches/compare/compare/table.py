"""The results as Markdown: a table per work, the goals, and under what conditions all of it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compare.entrants import Entrant
from compare.figures import Outcome
from compare.goals import GOALS, line
from compare.works import Work

KINDS = {"ours": "this project", "peer": "as documented", "tuned": "tuned", "limit": "limit"}


def markdown(
    conditions: Mapping[str, str],
    works: Sequence[Work],
    entrants: Sequence[Entrant],
    outcomes: Mapping[str, Mapping[str, Outcome]],
) -> str:
    """The whole page. `outcomes` is by work, then by entrant."""
    parts = ["# Side by side\n", *(f"- {name}: {value}" for name, value in conditions.items()), ""]
    for work in works:
        parts += [f"## {work.name}: {work.says}\n", *rows(work, entrants, outcomes[work.name]), ""]
    parts += ["## Goals\n", "| work | row | against | goal | measured | met |", "|---|---|---|---|---|---|"]
    parts += [line(goal, outcomes) for goal in GOALS if goal.works <= outcomes.keys()]
    return "\n".join(parts) + "\n"


def rows(work: Work, entrants: Sequence[Entrant], outcomes: Mapping[str, Outcome]) -> list[str]:
    """The fastest first; those without a figure last, with the reason."""
    taking_part = [entrant for entrant in entrants if entrant.name in outcomes]
    ordered = sorted(taking_part, key=lambda e: -(f.median if (f := outcomes[e.name].figure) else 0.0))
    table = ["| | kind | pictures/s | spread | rounds | what was timed |", "|---|---|---|---|---|---|"]
    return table + [row(entrant, outcomes[entrant.name]) for entrant in ordered if work.name in entrant.works]


def row(entrant: Entrant, outcome: Outcome) -> str:
    """One entrant."""
    name = f"**{entrant.name}**" if entrant.kind == "ours" else entrant.name
    kind = KINDS[entrant.kind]
    if outcome.figure is None:
        return f"| {name} | {kind} | - | - | - | not measured: {cell(outcome.reason)} |"
    figure = outcome.figure
    shown = f"{figure.median:,.0f}" if figure.median >= 100 else f"{figure.median:.1f}"
    return f"| {name} | {kind} | {shown} | ± {figure.spread:.1%} | {figure.rounds} | {cell(entrant.says)} |"


def cell(text: str) -> str:
    """Text that cannot break a table."""
    return " ".join(text.replace("|", "\\|").split())
