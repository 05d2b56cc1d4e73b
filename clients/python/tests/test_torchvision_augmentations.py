"""TrivialAugmentWide, RandAugment and AutoAugment beside all results that torchvision can give, on each kind of CPU."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from forebay import transforms
from originals import augmentations

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")

pytestmark = pytest.mark.originals

# From the oldest: those that the CPU has, and not those above.
CAPABILITIES = ("DEFAULT", "AVX2", "AVX512")
DRAWS = 2500
HEIGHT, WIDTH = augmentations.HEIGHT, augmentations.WIDTH
OURS = {
    "TrivialAugmentWide": transforms.TrivialAugmentWide(),
    **{name: transforms.RandAugment(2, at, bins) for name, (bins, at) in augmentations.RAND_MAGNITUDES.items()},
    **{f"AutoAugment {policy}": transforms.AutoAugment(policy) for policy in augmentations.POLICIES},
}


def theirs_for(capability=None):
    """The results of torchvision, with the arithmetic of a capability or of this CPU."""
    environment = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    environment |= {"ATEN_CPU_CAPABILITY": capability.lower()} if capability else {}
    made = subprocess.run([sys.executable, augmentations.__file__], env=environment, capture_output=True, check=True)
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def theirs():
    """The results of torchvision by capability."""
    best = theirs_for()
    if best["capability"] not in CAPABILITIES:
        pytest.skip(f"PyTorch has capability {best['capability']}, and not one of x86-64")
    below = CAPABILITIES[: CAPABILITIES.index(best["capability"])]
    return {**{each: theirs_for(each) for each in below}, best["capability"]: best}


@pytest.mark.parametrize("name", OURS)
def test_each_result_is_one_that_torchvision_gives_on_a_cpu_with_avx2(theirs, name):
    if "AVX2" not in theirs:
        pytest.skip("the CPU has no AVX2")
    possible = {capability: set(found[name]) for capability, found in theirs.items()}
    compose, picture = transforms.Compose([OURS[name]]), augmentations.picture()
    ours = {augmentations.digest(compose(picture, seed=3, record=record)) for record in range(DRAWS)}
    print(f"{name}: {len(ours)} of {len(possible['AVX2'])} results drawn,", end=" ")
    print({capability: len(ours - found) for capability, found in possible.items()}, "impossible")
    assert ours <= possible["AVX2"]
    assert len(ours) > len(possible["AVX2"]) // 2
    # AVX-512 gives the same: both multiply and add in one step.
    assert possible.get("AVX512", possible["AVX2"]) == possible["AVX2"]


def test_without_avx2_some_results_are_others(theirs):
    if len(theirs) == 1:
        pytest.skip("the CPU has no AVX2")
    assert theirs["DEFAULT"]["TrivialAugmentWide"] != theirs["AVX2"]["TrivialAugmentWide"]


def test_parity_takes_magnitudes_from_torchvision_and_not_from_us():
    from forebay.parity import pillow
    from torchvision.transforms import v2

    space, size = {"class": "TrivialAugmentWide", "bins": 31}, (WIDTH, HEIGHT)
    computed = {
        key: [] if (found := of(31, HEIGHT, WIDTH)) is None else found.tolist()
        for key, (of, _) in v2.TrivialAugmentWide._AUGMENTATION_SPACE.items()
    }

    def asked(operation):
        name, given = pillow.torchvisions(space, operation, size)
        assert name in operation
        return given

    for bin_, angle in enumerate(computed["Rotate"]):
        assert asked({"rotate": {"angle": -angle, "fill": None}}) == {"angle": -angle, "fill": None}
        wrong = float(np.nextafter(np.float32(angle), np.float32(200)))
        assert asked({"rotate": {"angle": wrong}})["angle"] == angle, bin_
    # The mistake that this was about: 16 pixels of 15.999999, which torchvision cuts to 15 where it has that.
    moved = {"angle": 0.0, "scale": 1.0, "shear": [0.0, 0.0], "center": None}
    for pixels in range(33):
        nearest = min(computed["TranslateY"], key=lambda magnitude: abs(magnitude - pixels))
        is_possible = pixels in {int(magnitude) for magnitude in computed["TranslateY"]}
        given = asked({"affine": {**moved, "translate": [0.0, float(pixels)]}})
        assert given["translate"][1] == (pixels if is_possible else int(nearest))
    factor = asked({"adjust_saturation": {"saturation_factor": 1.0 - 0.1}})["saturation_factor"]
    assert factor in {1.0 - magnitude for magnitude in computed["Color"]}
    chain = {"weight": 0.5, "operations": [{"solarize": {"threshold": 100.0}}, {"invert": {}}]}
    mixed = asked({"aug_mix": {"own": 0.5, "chains": [chain]}})
    (solarize, invert) = mixed["chains"][0]["operations"]
    assert solarize["solarize"]["threshold"] in {255.0 * magnitude for magnitude in computed["Solarize"]}
    assert invert == {"invert": {}}
    assert pillow.torchvisions(None, {"rotate": {"angle": 1.23}}, size) == ("rotate", {"angle": 1.23})
