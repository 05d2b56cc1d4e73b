"""Trains each recipe with torchvision's transforms and with Forebay's over several seeds: a table, and a picture."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import torch
from loaders import RECIPES, Job
from training import TRAININGS

CLASSES, LAST = 8, 50
COLOURS = {"torchvision": "#c26d2c", "Forebay": "#1f6f8b"}
# By recipe, side and seed: the loss of each step.
Losses = dict[str, dict[str, list[list[float]]]]


def main() -> None:
    """Runs one training after the other, both sides of a seed in turn."""
    args = arguments()
    torch.set_num_threads(1)
    losses: Losses = {name: {side: [] for side in sides} for name, sides in RECIPES.items() if name in args.recipe}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "pictures"
        forebay = Path(sys.executable).with_name("forebay")
        command = [forebay, "sample", folder, "--count", args.count, "--classes", CLASSES]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        for name, sides in losses.items():
            for seed in range(args.seeds):
                for side, found in sides.items():
                    found.append(trained(name, side, Job(folder, CLASSES, args.batch, seed), args.steps))
            print(table(name, sides), flush=True)
    if args.json:
        args.json.write_text(json.dumps(losses))
    draw(losses, args.out)
    print(f"The curves are in {args.out}.")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="benches/losses/run", description=__doc__)
    parser.add_argument("--recipe", action="append", choices=RECIPES, help="give it again for another (default: all)")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--count", type=int, default=512, help="generated pictures, of 8 classes")
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/losses.png"))
    parser.add_argument("--json", type=Path, help="write all losses into this file")
    args = parser.parse_args()
    args.recipe = args.recipe or list(RECIPES)
    return args


def trained(name: str, side: str, job: Job, steps: int) -> list[float]:
    """The losses of one training. Both sides of a seed begin with the same weights."""
    torch.manual_seed(job.seed)
    random.seed(job.seed)
    with closing(RECIPES[name][side](job)) as batches:
        # The DataLoader has drawn from the same generator.
        torch.manual_seed(job.seed)
        return TRAININGS[name](batches, steps)


def table(name: str, sides: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """A line for each side: the mean of the last steps' losses over the seeds, and how far the seeds are apart."""
    ends = {side: [statistics.mean(each[-LAST:]) for each in found] for side, found in sides.items()}
    steps = len(next(iter(sides.values()))[0])
    lines = [f"{name}: loss of the last {min(LAST, steps)} of {steps} steps"]
    lines += [
        f"  {side:12} {statistics.mean(values):8.4f}   over seeds: {' '.join(f'{value:.4f}' for value in values)}"
        for side, values in ends.items()
    ]
    theirs, ours = ends.values()
    apart = statistics.mean(ours) - statistics.mean(theirs)
    spread = statistics.mean(statistics.stdev(values) if len(values) > 1 else 0.0 for values in ends.values())
    lines.append(f"  difference   {apart:+8.4f}   standard deviation over the seeds of one side: {spread:.4f}")
    return "\n".join(lines)


def draw(losses: Losses, path: Path) -> None:
    """A panel for each recipe, with each seed as a thin line and the mean of the seeds as a thick one."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, len(losses), figsize=(5.5 * len(losses), 3.8), squeeze=False, layout="constrained"
    )
    for axis, (name, sides) in zip(axes[0], losses.items()):
        for side, found in sides.items():
            for each in found:
                axis.plot(smooth(each), color=COLOURS[side], alpha=0.25, linewidth=0.8)
            mean = [statistics.mean(step) for step in zip(*found)]
            axis.plot(smooth(mean), color=COLOURS[side], linewidth=2, label=side)
        axis.set_title(name, loc="left", fontsize=10)
        axis.set_xlabel("step")
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("loss, mean of 10 steps")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def smooth(values: Sequence[float], steps: int = 10) -> list[float]:
    """The mean of each value and those before it."""
    return [statistics.mean(values[max(0, at - steps + 1) : at + 1]) for at in range(len(values))]


if __name__ == "__main__":
    main()
