"""`benches/losses/run`, with a few steps. Skipped if PyTorch, torchvision or matplotlib is not installed."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

for name in ("torch", "torchvision", "matplotlib"):
    pytest.importorskip(name, reason=f"{name} is not installed; `make test-torch` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

BENCH = Path(__file__).parents[3] / "benches" / "losses"
SIDES = ("torchvision", "Forebay")


def test_both_sides_train_each_recipe_and_the_table_is_of_what_was_drawn(tmp_path):
    found, drawn = tmp_path / "losses.json", tmp_path / "losses.png"
    words = ["--seeds", "2", "--steps", "4", "--count", "32", "--batch", "8", "--json", found, "--out", drawn]
    done = subprocess.run(
        [sys.executable, BENCH / "curves.py", *map(str, words)],
        env={"PYTHONPATH": str(BENCH), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert drawn.read_bytes().startswith(b"\x89PNG")
    losses = json.loads(found.read_text())
    assert list(losses) == ["classification", "DINOv2"]
    for sides in losses.values():
        for side in SIDES:
            assert [len(each) for each in sides[side]] == [4, 4]
            mean = statistics.mean(statistics.mean(each) for each in sides[side])
            assert f"  {side:12} {mean:8.4f} " in done.stdout
        # The first step has the same weights, and pictures of its own.
        assert all(theirs[0] != ours[0] for theirs, ours in zip(*sides.values()))


def test_both_sides_give_the_same_views_and_labels(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    from loaders import RECIPES, Job

    folder = tmp_path / "pictures"
    sample = [Path(sys.executable).with_name("forebay"), "sample", folder, "--count", "16", "--classes", "4"]
    subprocess.run([str(word) for word in sample], check=True, capture_output=True)
    for sides in RECIPES.values():
        firsts = []
        for side in SIDES:
            batches = sides[side](Job(folder, 4, 8, 3))
            firsts.append(next(batches))
            batches.close()
        theirs, ours = firsts
        assert [each.shape for each in ours.pictures] == [each.shape for each in theirs.pictures]
        assert [each.dtype for each in ours.pictures] == [each.dtype for each in theirs.pictures]
        assert ours.labels.shape == theirs.labels.shape == (8, 4)
        for side in firsts:
            assert side.labels.sum(1).tolist() == pytest.approx([1] * 8)
