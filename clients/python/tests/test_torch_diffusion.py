"""The example of a diffusion model, on captioned pictures of different sizes. Skipped if PyTorch is not installed."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

EXAMPLE = Path(__file__).parents[3] / "examples" / "diffusion.py"
SIZES = [(64, 64), (48, 96), (90, 60), (70, 64), (40, 100), (64, 80)]
RECORDS = 40


@pytest.fixture
def captioned(binary, tmp_path):
    """A folder of pictures with captions, and its index."""
    folder, index = tmp_path / "captioned", tmp_path / "sizes.arrow"
    folder.mkdir()
    lines = []
    for number in range(RECORDS):
        height, width = SIZES[number % len(SIZES)]
        rows, columns = np.mgrid[:height, :width]
        pixels = np.stack([rows * 2 + number, columns * 3, rows + columns], axis=2) % 256
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number:03}.png")
        lines.append(json.dumps({"file_name": f"{number:03}.png", "caption": f"a slope number {number}"}))
    (folder / "metadata.jsonl").write_text("\n".join(lines))
    command = [binary, "index", folder, "--sizes", "--columns", "caption=caption", "--output", index]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder, index


def trained(captioned, steps, *more):
    """What the example prints of each step."""
    folder, index = captioned
    command = [sys.executable, EXAMPLE, folder, "--index", index, "--steps", str(steps), *more]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def test_rule_64_a_diffusion_model_trains_on_buckets_and_a_resumed_run_has_the_same_losses(captioned, tmp_path):
    whole = trained(captioned, 50)
    assert [step["step"] for step in whole] == list(range(1, 51))
    assert len({step["bucket"] for step in whole}) >= 3
    assert {step["epoch"] for step in whole} == set(range(5))
    assert all(math.isfinite(step["loss"]) for step in whole)
    first, last = (np.mean([step["loss"] for step in part]) for part in (whole[:10], whole[-10:]))
    assert last < first, "it learns"
    checkpoint = tmp_path / "run.pt"
    begun = trained(captioned, 23, "--checkpoint", checkpoint)
    resumed = begun + trained(captioned, 50, "--checkpoint", checkpoint)
    for one, other in zip(whole, resumed):
        assert {**one, "loss": 0} == {**other, "loss": 0}
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
    assert len(resumed) == 50
