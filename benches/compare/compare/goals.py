"""Which ratios the project has set itself, per work, and how far they are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compare.figures import Outcome, best

USUAL = ("torchvision, its reader", "torchvision, Pillow", "DALI", "tf.data")
TORCHVISION = ("torchvision, its reader", "torchvision, Pillow")
TURBO = "forebay, libjpeg-turbo"
PLAIN = "forebay, no seek points"
FUNCTIONS = "forebay, Python"
DATALOADER = ("DataLoader, Albumentations", "DataLoader, torchvision's reader, Albumentations")
SEEKING = ("bare loop, seek points",)


@dataclass(frozen=True)
class Goal:
    """A row of ours, what it is held against, and the ratio aimed at. Against several, the fastest counts."""

    work: str
    ours: str
    against: tuple[str, ...]
    aim: float
    # The work in which the others are measured, if it is another one of the same run.
    beside: str = ""

    @property
    def works(self) -> set[str]:
        """The works that have to be measured."""
        return {self.work, self.beside or self.work}


# Against peers with the decoder that they have too, and with our own one without seek points and with them; against a
# bare loop that does the same.
GOALS = (
    Goal("train", TURBO, ("bare loop, libjpeg-turbo",), 0.90),
    Goal("train", TURBO, ("DALI",), 1.8),
    Goal("train", PLAIN, ("bare loop",), 0.90),
    Goal("train", PLAIN, ("DALI",), 3.0),
    Goal("train", PLAIN, TORCHVISION, 2.5),
    Goal("train", "forebay", SEEKING, 0.88),
    Goal("train", "forebay", ("DALI",), 4.0),
    Goal("train", "forebay", TORCHVISION, 3.7),
    Goal("train", "forebay, decoded cache", ("FFCV, raw",), 1.4),
    Goal("eval", TURBO, ("bare loop, libjpeg-turbo",), 0.90),
    Goal("eval", TURBO, USUAL, 1.5),
    Goal("eval", PLAIN, ("bare loop",), 0.90),
    Goal("eval", PLAIN, USUAL, 2.0),
    Goal("eval", "forebay", SEEKING, 0.88),
    Goal("eval", "forebay", USUAL, 3.0),
    Goal("eval", "forebay, decoded cache", ("FFCV, raw",), 1.4),
    Goal("big", TURBO, ("bare loop, libjpeg-turbo",), 0.90),
    Goal("big", "forebay fast, libjpeg-turbo", ("bare loop fast, libjpeg-turbo",), 0.90),
    Goal("big", "forebay fast, libjpeg-turbo", USUAL, 1.3),
    Goal("big", PLAIN, ("bare loop",), 0.90),
    Goal("big", "forebay", SEEKING, 0.88),
    Goal("big", "forebay fast", ("bare loop fast",), 0.90),
    Goal("big", "forebay fast", USUAL, 1.3),
    # What transforms leave of the plain crop, and how much faster they are than torchvision's own.
    Goal("trivial", PLAIN, (PLAIN,), 0.85, beside="train"),
    Goal("trivial", PLAIN, TORCHVISION, 3.5),
    Goal("simclr", PLAIN, (PLAIN,), 0.60, beside="train"),
    Goal("simclr", PLAIN, TORCHVISION, 5.0),
    Goal("dinov2", PLAIN, TORCHVISION, 6.0),
    # The same functions in Python.
    Goal("python", FUNCTIONS, DATALOADER, 1.15),
    Goal("python", FUNCTIONS, ("DALI, python_function",), 1.7),
    Goal("python", FUNCTIONS, ("DALI, parallel external source",), 1.15),
    Goal("python-after-crop", FUNCTIONS, DATALOADER, 2.0),
    Goal("python-after-crop", FUNCTIONS, ("DALI, python_function",), 1.7),
)


def line(goal: Goal, outcomes: Mapping[str, Mapping[str, Outcome]]) -> str:
    """One Markdown table row: aim and what was measured. `outcomes` is by work, then by entrant."""
    ours = best(outcomes[goal.work], (goal.ours,))
    rival = best(outcomes[goal.beside or goal.work], goal.against)
    reached = ours[1] / rival[1] if ours and rival else None
    shown = "not measured" if reached is None else f"{reached:.2f}"
    met = "" if reached is None else ("yes" if reached >= goal.aim else "no")
    name = rival[0] if rival else ", ".join(goal.against)
    if goal.beside:
        name += f", {goal.beside}"
    return f"| {goal.work} | {goal.ours} | {name} | {goal.aim:.2f} | {shown} | {met} |"
