"""Operations against torchvision's, for tensors and for Pillow's images. Skipped if torchvision is not installed."""

import numpy as np
import pytest
from forebay.transforms import functional
from PIL import Image
from reference_pictures import pictures

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from torchvision.transforms.v2 import InterpolationMode  # noqa: E402 - after it was looked whether it is there
from torchvision.transforms.v2 import functional as theirs  # noqa: E402

pytestmark = pytest.mark.originals

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


# The filters that torchvision has for tensors.
FILTERS = {"nearest": InterpolationMode.NEAREST, "bilinear": InterpolationMode.BILINEAR}
MOVES = {
    "affine": [
        {"angle": 0, "translate": [0, 0], "scale": 1.0, "shear": [16.7, 0.0], "center": [0, 0]},
        {"angle": 0, "translate": [0, 0], "scale": 1.0, "shear": [0.0, -44.7], "center": [0, 0], "fill": [7, 8, 99]},
        {"angle": 0, "translate": [-31, 0], "scale": 1.0, "shear": [0.0, 0.0]},
        {"angle": 33.3, "translate": [4, -9], "scale": 0.7, "shear": [3.0, -12.0], "fill": [200, 0, 1]},
        {"angle": -160, "translate": [0, 3], "scale": 3.1, "shear": [0.0, 40.0]},
    ],
    "rotate": [{"angle": angle} for angle in (0, 4.5, -30, 90, 134.9, 180, 270)]
    + [{"angle": 77.7, "center": [3, 5.5], "fill": [1, 100, 200]}],
}
SHAPED = {
    "crop": [(0, 0, 5, 7), (-3, 2, 40, 600), (300, 9, 4, 4)],
    "center_crop": [([5, 7],), ([300, 20],), ([601, 602],), (1,)],
    "horizontal_flip": [()],
    "vertical_flip": [()],
    "pad": [(3, 7), ([2, 5], 0, "edge"), ([1, 2, 3, 4], 255)],
    "resize": [([31, 45],), ([5, 700],)],
}
BLURS = [{"kernel_size": 23, "sigma": 1.3}, {"kernel_size": [3, 9]}, {"kernel_size": 5, "sigma": [0.1, 7.0]}]


def test_every_operation_is_compared():
    # torchvision has these nowhere, or under another name.
    alone = {"letterbox", "solarize_add", "pillow_gaussian_blur", "affine_matrix", "adjust_hsv"}
    others = {"gaussian_blur", "erase", "perspective", *SHAPED, *alone}
    assert {*PARAMETERS, *MOVES, *others} == set(functional.__all__)


@pytest.mark.parametrize("name", SHAPED)
def test_pictures_get_the_size_and_the_pixels_that_torchvision_gives_them(name):
    for title, picture in pictures():
        for parameters in SHAPED[name]:
            expected = np.asarray(getattr(theirs, name)(Image.fromarray(picture), *parameters))
            assert np.array_equal(getattr(functional, name)(picture, *parameters), expected), f"{title}, {parameters}"


@pytest.mark.parametrize("interpolation", FILTERS)
def test_an_expanded_rotation_and_a_perspective_are_those_of_torchvision(interpolation):
    ours_for, theirs_for = {"interpolation": interpolation}, {"interpolation": FILTERS[interpolation]}
    values, far = 0, 0
    for title, picture in pictures():
        height, width = picture.shape[:2]
        if min(height, width) < 8:
            continue
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moved = [[width // 5, 1], [width - 2, height // 6], [width - 1 - width // 9, height - 3], [1, height - 1]]
        calls = [("perspective", (corners, moved), {"fill": fill}) for fill in (None, [9, 200, 31])]
        calls += [("rotate", (angle,), {"expand": True}) for angle in (10, 90, 133.7, 180, -45)]
        for name, given, more in calls:
            by_pillow = np.asarray(getattr(theirs, name)(Image.fromarray(picture), *given, **theirs_for, **more))
            made = getattr(functional, name)(picture, *given, **ours_for, **more)
            assert np.array_equal(made, by_pillow), f"{title}, {name} {given}"
            tensor = torch.from_numpy(picture.copy()).permute(2, 0, 1)
            by_torch = getattr(theirs, name)(tensor, *given, **theirs_for, **more).permute(1, 2, 0).numpy()
            apart = np.abs(
                getattr(functional, name)(picture, *given, **ours_for, **more, match="torch") - by_torch.astype(int)
            )
            values, far = values + apart.size, far + np.count_nonzero(apart > 1)
    print(f"{interpolation}: of {values} values for tensors, {far} differ by more than 1")
    assert far <= (values // 1000 if interpolation == "nearest" else 0)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("interpolation", FILTERS)
def test_pixels_are_moved_as_torchvision_moves_them(name, interpolation):
    values, unequal, far = 0, 0, 0
    for title, picture in pictures():
        for parameters in MOVES[name]:
            theirs_for = {"interpolation": FILTERS[interpolation], **parameters}
            ours_for = {"interpolation": interpolation, **parameters}
            by_pillow = np.asarray(getattr(theirs, name)(Image.fromarray(picture), **theirs_for))
            assert np.array_equal(getattr(functional, name)(picture, **ours_for), by_pillow), f"{title}, {parameters}"
            tensor = torch.from_numpy(picture.copy()).permute(2, 0, 1)
            by_torch = getattr(theirs, name)(tensor, **theirs_for).permute(1, 2, 0).numpy()
            apart = np.abs(getattr(functional, name)(picture, **ours_for, match="torch").astype(int) - by_torch)
            values, unequal = values + apart.size, unequal + np.count_nonzero(apart)
            far += np.count_nonzero(apart > 1)
    print(f"{name} {interpolation}: of {values} values for tensors, {unequal} differ, {far} by more than 1")
    assert far <= (values // 1000 if interpolation == "nearest" else 0)


def test_bicubic_moves_are_those_of_pillow():
    for title, picture in pictures():
        for parameters in MOVES["affine"]:
            expected = theirs.affine(Image.fromarray(picture), interpolation=InterpolationMode.BICUBIC, **parameters)
            made = functional.affine(picture, interpolation="bicubic", **parameters)
            assert np.array_equal(made, np.asarray(expected)), f"{title}, {parameters}"


def test_a_blur_is_within_1_of_torchvision_s():
    values, unequal = 0, 0
    for title, picture in pictures():
        if min(picture.shape[:2]) > 12:
            for parameters in BLURS:
                expected = np.asarray(theirs.gaussian_blur(Image.fromarray(picture), **parameters))
                apart = np.abs(functional.gaussian_blur(picture, **parameters).astype(int) - expected)
                assert apart.max() <= 1, f"{title}, {parameters}"
                values, unequal = values + apart.size, unequal + np.count_nonzero(apart)
    print(f"gaussian_blur: {unequal} of {values} values are 1 apart")


def test_a_rectangle_is_erased_as_in_torchvision():
    picture = next(picture for title, picture in pictures() if title == "noise 97 x 61")
    tensor = torch.from_numpy(picture.copy()).permute(2, 0, 1)
    colour = torch.tensor([1, 2, 250])[:, None, None]
    expected = theirs.erase(tensor, 5, 7, 11, 200, colour).permute(1, 2, 0).numpy()
    assert np.array_equal(functional.erase(picture, 5, 7, 11, 200, (1, 2, 250)), expected)


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
