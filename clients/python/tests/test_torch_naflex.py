"""The example of a NaFlexVit, on pictures of different sizes. Skipped if PyTorch or timm is not installed."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("timm.models.naflexvit", reason="timm is not installed; `make test-torch` installs it")
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

EXAMPLE = Path(__file__).parents[3] / "examples" / "naflex.py"
SIZES = [(64, 64), (48, 96), (90, 60), (70, 64), (40, 100), (64, 80)]
RECORDS = 60


@pytest.fixture
def classes(binary, tmp_path):
    """A folder of pictures of two classes, stripes in two directions, and its index."""
    folder, index = tmp_path / "classes", tmp_path / "sizes.arrow"
    for number in range(RECORDS):
        height, width = SIZES[number % len(SIZES)]
        lines = np.mgrid[:height, :width][number % 2] // 4 % 2 * 200
        pixels = np.stack([lines, lines + number % 50, lines], axis=2)
        (folder / f"{number % 2}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number % 2}" / f"{number:03}.png")
    command = [binary, "index", folder, "--sizes", "--output", index]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder, index


def trained(classes, steps, *more):
    """What the example prints of each step."""
    folder, index = classes
    command = [sys.executable, EXAMPLE, folder, "--index", index, "--steps", str(steps), *more]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def test_rule_65_a_naflexvit_trains_on_patches_and_a_resumed_run_has_the_same_losses(classes, tmp_path):
    whole = trained(classes, 50)
    assert [step["step"] for step in whole] == list(range(1, 51))
    assert {(step["length"], step["pictures"]) for step in whole} == {(16, 32), (36, 14), (64, 8)}
    assert all(0 < step["tokens"] <= 512 for step in whole)
    assert all(math.isfinite(step["loss"]) for step in whole)
    first, last = (np.mean([step["loss"] for step in part]) for part in (whole[:10], whole[-10:]))
    assert last < first, "it learns"
    checkpoint = tmp_path / "run.pt"
    begun = trained(classes, 23, "--checkpoint", checkpoint)
    resumed = begun + trained(classes, 50, "--checkpoint", checkpoint)
    for one, other in zip(whole, resumed):
        assert {**one, "loss": 0} == {**other, "loss": 0}
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
    assert len(resumed) == 50
