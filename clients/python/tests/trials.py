"""Trials of the training loops in `examples/`: the same loop, with Forebay and with the loader of its framework.

`python trials.py EXAMPLE FILE WORDS...` is a trial in a process of its own, which may be killed. FILE gets a line for
each batch that it draws for training.
"""

import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
from forebay.feed import Feed
from png import write_png

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
# 60 pictures in batches of 6, five times.
RECORDS, BATCH, EPOCHS, STEPS, SIDE, CLASSES = 60, 6, 5, 50, 16, 3
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


# A process is killed in the middle of the second epoch. The checkpoint is two steps older, or as old as the epoch.
SAVE_EVERY, DIE_AT, SAVED_AT, EPOCH = 3, 17, 15, STEPS // EPOCHS


def watched(note):
    """Calls `note` with the epoch and the records of each batch that a Loader draws for training."""
    draw = Feed.draw

    def watching(feed, timeout=None):
        number, batch = draw(feed, timeout)
        if batch is not None and feed.session.records == RECORDS:
            note([batch.epoch, batch.records.tolist()])
        return number, batch

    return patch.object(Feed, "draw", watching)


def killed(name, given, checkpoint, log):
    """Runs an example in a process that saves within epochs and is killed. Gives what it drew, and what it printed."""
    words = [*given, "--resume", checkpoint, "--save-every", SAVE_EVERY, "--die-at", DIE_AT]
    command = [sys.executable, __file__, name, log, *words]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-3000:]
    drawn = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line) for line in drawn], ended.stdout


def assert_resumed_within_an_epoch(name, given, checkpoint):
    """A job that is killed goes on behind its checkpoint, with the next record and the losses of one that was not."""
    whole = example(name)(given)
    before, _ = killed(name, given, checkpoint, checkpoint.with_suffix(".drawn"))
    after = []
    with watched(after.append):
        rest = example(name)([*given, "--resume", str(checkpoint), "--save-every", str(SAVE_EVERY)])
    assert len(rest["losses"]) == STEPS - SAVED_AT
    drawn = before[:SAVED_AT] + after
    for epoch in range(EPOCHS):
        records = [record for of, batch in drawn if of == epoch for record in batch]
        assert sorted(records) == list(range(RECORDS)), f"epoch {epoch} has each record once"
    # The steps behind the checkpoint were made anew, with the same records in the same order.
    assert after[: DIE_AT - SAVED_AT] == before[SAVED_AT:DIE_AT]
    np.testing.assert_allclose(rest["losses"], whole["losses"][SAVED_AT:], rtol=1e-4)
    assert rest["right"] == whole["right"][SAVED_AT // EPOCH :]
    assert rest["validated"] == [21] * (EPOCHS - SAVED_AT // EPOCH)


def assert_resumed_after_an_epoch(name, given, checkpoint):
    """With a loader without a state, a job says that it saves after epochs, and goes on with the next one."""
    whole = example(name)(given)
    _, printed = killed(name, given, checkpoint, checkpoint.with_suffix(".drawn"))
    assert "this loader has no state: checkpoints are written after whole epochs only" in printed
    rest = example(name)([*given, "--resume", str(checkpoint)])
    np.testing.assert_allclose(rest["losses"], whole["losses"][DIE_AT // EPOCH * EPOCH :], rtol=1e-4)
    assert rest["right"] == whole["right"][DIE_AT // EPOCH :]


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


def main(name, log, *given):
    """A trial in this process."""
    with Path(log).open("a") as file, watched(lambda drawn: print(json.dumps(drawn), file=file, flush=True)):
        example(name)(given)


if __name__ == "__main__":
    main(*sys.argv[1:])
