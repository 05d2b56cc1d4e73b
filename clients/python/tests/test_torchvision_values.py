"""Operations against torchvision's, for tensors and for Pillow's images. Skipped if torchvision is not installed."""

import numpy as np
import pytest
from forebay.transforms import functional
from PIL import Image
from reference_pictures import pictures

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from torchvision.transforms.v2 import functional as theirs  # noqa: E402 - after it was looked whether it is there

FACTORS = [0.0, 0.25, 0.5, 0.9999, 1.0, 1.0001, 1.3, 2.0, 7.5]
# torchvision refuses other numbers for tensors.
PARAMETERS = {
    "adjust_brightness": FACTORS,
    "adjust_contrast": FACTORS,
    "adjust_saturation": FACTORS,
    "adjust_sharpness": FACTORS,
    "adjust_hue": [-0.5, -0.499, -0.1, -0.003, 0.0, 0.003, 0.02, 0.25, 0.4, 0.5],
    "rgb_to_grayscale": [3],
    "solarize": [0, 1, 99.5, 128, 255],
    "posterize": range(1, 9),
    "invert": [None],
    "autocontrast": [None],
    "equalize": [None],
}


def test_every_operation_is_compared():
    assert set(PARAMETERS) == set(functional.__all__)


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_operation_is_that_of_torchvision(name):
    values, unequal = 0, 0
    for title, picture in pictures():
        for parameter in PARAMETERS[name]:
            given = () if parameter is None else (parameter,)
            by_pillow = np.asarray(getattr(theirs, name)(Image.fromarray(picture), *given))
            assert np.array_equal(getattr(functional, name)(picture, *given), by_pillow), f"{title}, {parameter}"
            tensor = torch.from_numpy(picture.copy()).permute(2, 0, 1)
            by_torch = getattr(theirs, name)(tensor, *given).permute(1, 2, 0).numpy()
            made = getattr(functional, name)(picture, *given, match="torch")
            apart = np.abs(made.astype(int) - by_torch)
            assert apart.max() <= 1, f"{title}, {parameter}: {np.argwhere(apart > 1)[:3]}"
            values, unequal = values + made.size, unequal + np.count_nonzero(apart)
    print(f"{name}: {unequal} of {values} values are 1 apart for tensors")
