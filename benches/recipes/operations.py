"""The operations that are measured, with their parameters, the peers that have them, and the goals. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SIDE = 224
# What a file of `peers/` has under each name does this to a picture of SIDE x SIDE.
OPERATIONS = {
    "brightness": "factor 1.3",
    "contrast": "factor 1.3",
    "saturation": "factor 1.3",
    "hue": "factor 0.1",
    "color jitter": "these four",
    "gray": "three channels",
    "solarize": "threshold 128",
    "posterize": "4 bits",
    "invert": "",
    "autocontrast": "",
    "equalize": "",
    "sharpness": "factor 1.7",
    "gaussian blur": "kernel 23, sigma 1",
    "affine": "10 degrees, scale 1.1, shear 5, bilinear",
    "rotate": "30 degrees, bilinear",
    "perspective": "bilinear",
    "erase": "50 x 60 pixels",
    "flip": "left to right",
    "resize": "to 128 x 128, bilinear",
    "pad": "16 pixels",
}


@dataclass(frozen=True)
class Peer:
    """One column: its name, its script, its environment, and its packages in `benches/compare/requirements`."""

    name: str
    script: str
    venv: str
    packages: str


OURS = "Forebay"
RIVAL = "AlbumentationsX"
FUNCTIONS = (
    Peer(OURS, "forebay_functions.py", "forebay", "forebay"),
    Peer("Pillow", "pillow_functions.py", "torch", "torchvision"),
    Peer("torchvision", "torchvision_functions.py", "torch", "torchvision"),
    Peer(RIVAL, "albumentations_functions.py", "torch", "albumentationsx"),
    Peer("Kornia", "kornia_functions.py", "torch", "kornia"),
)
DECODERS = (
    Peer(OURS, "forebay_functions.py", "forebay", "forebay"),
    Peer("Pillow-SIMD", "pillow_functions.py", "pillow", "pillow-simd"),
    Peer("torchvision.io", "torchvision_functions.py", "torch", "torchvision"),
    Peer("torchcodec", "torchcodec_decode.py", "torch", "torchcodec"),
)
# At least this part of the operations is as fast as the rival's, and none is slower than by this factor.
SHARE, LEAST = 0.8, 0.5
DECODE = 1.8


def medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of several rounds of a peer, by what was measured. What failed in a round has no median."""
    names = set.intersection(*(set(each) for each in rounds)) if rounds else set()
    return {name: statistics.median(each[name] for each in rounds) for name in names}


def ratios(figures: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """How many times as fast ours are as the rival's, by operation, of microseconds by peer and operation."""
    ours, theirs = figures.get(OURS, {}), figures.get(RIVAL, {})
    return {name: theirs[name] / ours[name] for name in OPERATIONS if name in ours and name in theirs}


def operation_goals(found: Mapping[str, float]) -> list[str]:
    """Lines about both goals, of the ratios by operation."""
    if not found:
        return [f"goals: {RIVAL} was not measured"]
    as_fast = sum(ratio >= 1 for ratio in found.values())
    least = min(found, key=lambda name: found[name])
    return [
        f"as fast as {RIVAL} or faster: {as_fast} of {len(found)} operations "
        f"(goal: {SHARE:.0%}, {met(as_fast / len(found), SHARE)})",
        f"least ratio: {found[least]:.2f}, {least} (goal: {LEAST}, {met(found[least], LEAST)})",
    ]


def decode_goal(rates: Mapping[str, float]) -> str:
    """A line about the goal of decoding, of pictures per second by decoder."""
    others = {name: rate for name, rate in rates.items() if name != OURS}
    if OURS not in rates or not others:
        return "goal: not enough decoders were measured"
    best = max(others, key=lambda name: others[name])
    ratio = rates[OURS] / others[best]
    return f"{ratio:.2f} x {best}, the fastest of the others (goal: {DECODE}, {met(ratio, DECODE)})"


def met(reached: float, goal: float) -> str:
    """In words."""
    return "met" if reached >= goal else "missed"
