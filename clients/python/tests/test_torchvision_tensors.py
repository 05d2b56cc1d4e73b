"""`match = "torch"` and `match = "pillow"` beside torchvision's uint8 tensors, where these depend on the CPU."""

import json
import os
import subprocess
import sys

import pytest
from originals import tensors

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")

pytestmark = pytest.mark.originals


def figures_for(capability):
    """What differs with the arithmetic of a capability: names, and greatest difference, unequal values and values."""
    environment = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    environment |= {"ATEN_CPU_CAPABILITY": capability} if capability else {}
    made = subprocess.run([sys.executable, tensors.__file__], env=environment, capture_output=True, check=True)
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def plain():
    """Figures of a CPU that multiplies and adds in two steps, which every CPU can do."""
    return figures_for("default")


@pytest.fixture(scope="module")
def joined():
    """Figures of a CPU that multiplies and adds in one step."""
    found = figures_for(None)
    if found["capability"] not in ("AVX2", "AVX512"):
        pytest.skip(f"PyTorch has capability {found['capability']}")
    return found


def shown(name, figures):
    """Greatest difference and share of values that differ, which are printed as well."""
    greatest, unequal, values = figures[name]
    print(f"{figures['capability']}, {name}: up to {greatest}, {100 * unequal / values:.3f} % differ")
    return greatest, unequal / values


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_torch_is_within_1_of_tensors_of_floats(plain, joined, mode):
    for figures in (plain, joined):
        greatest, share = shown(f"{mode}, torch, floats", figures)
        assert greatest <= 1
        assert share < 0.01


def test_bilinear_is_within_1_of_tensors_of_bytes(plain, joined):
    # Without AVX2, torchvision makes floats of them. With it, torch computes in whole numbers.
    for first in ("rows first", "columns first"):
        assert shown(f"bilinear, torch, {first}", plain)[0] <= 1
        assert shown(f"bilinear, torch, {first}", joined)[0] <= 1
    assert shown("bilinear, pillow, rows first", joined)[0] <= 2
    assert shown("bilinear, pillow, rows first", joined)[1] < 0.01


def test_bicubic_of_tensors_of_bytes_is_pillows_but_for_the_order_of_its_passes(plain, joined):
    # torch has whole numbers for these on any CPU, and goes along the rows first, always.
    for figures in (plain, joined):
        greatest, share = shown("bicubic, pillow, rows first", figures)
        assert greatest <= 2
        assert share < 0.01
        assert shown("bicubic, pillow, columns first", figures)[0] <= 30
        # What docs/transforms.md warns of: this is no match for these tensors.
        assert 12 <= shown("bicubic, torch, rows first", figures)[0] <= 40


@pytest.mark.parametrize("factor", tensors.FACTORS)
def test_saturation_is_torchs_to_the_bit_where_the_cpu_rounds_twice(plain, joined, factor):
    for name in ("brightness", "contrast", "saturation"):
        assert shown(f"{name} {factor}", plain)[0] == 0
    assert shown(f"brightness {factor}", joined)[0] == 0
    # The gray of some colours is one less there, and counts as often as the factor is above 1. So does the mean of a
    # picture that has such a colour alone.
    for name in ("saturation", "contrast"):
        greatest, share = shown(f"{name} {factor}", joined)
        assert greatest <= int(abs(1 - factor)) + 1
        assert share < 0.02


def test_a_large_saturation_shows_the_difference(joined):
    assert shown("saturation 8.1", joined)[0] == 7
