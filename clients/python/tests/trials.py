"""Trials of the training loops in `examples/`: the same loop, with Forebay and with the loader of its framework."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
from png import write_png

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
# 60 pictures in batches of 6, five times.
BATCH, EPOCHS, STEPS, SIDE, CLASSES = 6, 5, 50, 16, 3
SEEDS = (1, 2, 3)


def example(name):
    """The `main` of an example, which may import others, as it may when it is run."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # Data classes look for their module there.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.main


def folders(root):
    """Folders `train` and `val` of noisy pictures, whose class is in their colour."""
    random = np.random.default_rng(5)
    for part, count in (("train", 20), ("val", 7)):
        for label in range(CLASSES):
            folder = root / part / f"class-{label}"
            for number in range(count):
                colour = np.full(3, 90) + 60 * (np.arange(3) == label)
                pixels = (colour + random.integers(-60, 60, (SIDE, SIDE, 3))).clip(0, 255).astype(np.uint8)
                write_png(folder / f"{number:03}.png", pixels)
    return root


def words(*given, seed):
    """The command line of a trial."""
    numbers = {"--size": SIDE, "--batch-size": BATCH, "--epochs": EPOCHS, "--lr": 0.05, "--seed": seed}
    return [*map(str, given), *(str(word) for pair in numbers.items() for word in pair)]


def assert_equal(ours, theirs):
    """Every step had the same loss: the batches were the same."""
    assert len(ours["losses"]) == len(theirs["losses"]) == STEPS
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=0.01, atol=0.001)


def assert_resumed(trial, checkpoint):
    """A job that is interrupted and resumed has the losses of one that was not. `trial` runs one with further words."""
    whole = trial()
    first = trial("--resume", checkpoint, "--stop-after", 1)
    rest = trial("--resume", checkpoint)
    assert len(first["losses"]) == 2 * STEPS // EPOCHS
    np.testing.assert_allclose(first["losses"] + rest["losses"], whole["losses"], rtol=1e-4)
    assert first["right"] + rest["right"] == whole["right"]


def assert_alike(ours, theirs):
    """With orders of their own, both learn, and equally well: by the last epoch's mean loss over all seeds."""

    def means(reports):
        losses = np.array([report["losses"] for report in reports])
        assert losses.shape == (len(SEEDS), STEPS)
        return losses.reshape(len(SEEDS), EPOCHS, -1).mean(axis=(0, 2))

    ours, theirs = means(ours), means(theirs)
    for epochs in (ours, theirs):
        assert epochs[-1] < 0.9 * epochs[0], (ours, theirs)
    assert abs(ours[-1] - theirs[-1]) < 0.2 * (theirs[0] - theirs[-1]), (ours, theirs)
