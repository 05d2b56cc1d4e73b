"""Operations against Pillow, called as `torchvision.transforms.v2.functional` calls it: equal to the bit."""

import doctest

import numpy as np
import pytest
from forebay import _native
from forebay.transforms import functional
from interpreter import rounds_until_seen
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from PIL.Image import Resampling
from reference_pictures import all_colours, pictures

FACTORS = [0.0, 0.25, 0.5, 0.9999, 1.0, 1.0001, 1.3, 1.99, 2.0, 7.5, 300.0, -0.7]
TURNS = [-0.5, -0.499, -0.1, -0.003, 0.0, 0.003, 0.02, 0.25, 0.4, 0.5]


def _enhanced(kind):
    return lambda image, factor: kind(image).enhance(factor)


def _turned(image, factor):
    """The hue is a byte that wraps around, as in torchvision."""
    hue, saturation, value = image.convert("HSV").split()
    turned = np.array(hue) + np.int32(factor * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert("RGB")


def _gained(image, gains):
    """Numbers of Pillow's HSV that wrap around, or are cut off."""
    hue, saturation, value = (np.array(channel) for channel in image.convert("HSV").split())
    turned = hue + np.int32(gains[0] * 255).astype(np.uint8)
    times = [np.minimum(channel * gain, 255).astype(np.uint8) for channel, gain in zip((saturation, value), gains[1:])]
    merged = [Image.fromarray(channel) for channel in (turned, *times)]
    return Image.merge("HSV", merged).convert("RGB")


def _posterized(image, bits):
    """Pillow refuses 0 bits since its release 13."""
    return ImageOps.posterize(image, bits) if bits else Image.new("RGB", image.size)


def _added(image, add):
    """The operation of timm on a Pillow image."""
    return image.point([min(255, value + add) if value < 128 else value for value in range(256)] * 3)


# Ours, Pillow's, and the parameters to try.
OPERATIONS = {
    "adjust_brightness": (_enhanced(ImageEnhance.Brightness), FACTORS),
    "adjust_contrast": (_enhanced(ImageEnhance.Contrast), FACTORS),
    "adjust_saturation": (_enhanced(ImageEnhance.Color), FACTORS),
    "adjust_sharpness": (_enhanced(ImageEnhance.Sharpness), FACTORS),
    "adjust_hue": (_turned, TURNS),
    "rgb_to_grayscale": (lambda image: image.convert("L").convert("RGB"), [None]),
    "solarize": (ImageOps.solarize, [0, 1, 99.5, 128, 255, 256]),
    "posterize": (_posterized, range(9)),
    "invert": (ImageOps.invert, [None]),
    "autocontrast": (ImageOps.autocontrast, [None]),
    "equalize": (ImageOps.equalize, [None]),
    "pillow_gaussian_blur": (
        lambda image, radius: image.filter(ImageFilter.GaussianBlur(radius)),
        [0, 0.05, 0.1, 0.5, 1.0, 2, 7.3, 90.0, (0, 3), (2.5, 0.3)],
    ),
    "solarize_add": (_added, [0, 1, 55, 110, 128]),
}


# These have tests of their own below, and others beside torchvision.
OTHERS = {"adjust_hsv", "affine", "erase", "gaussian_blur", "rotate"}
# And these in test_functional_geometry.py.
GEOMETRY = {
    "affine_matrix",
    "center_crop",
    "crop",
    "horizontal_flip",
    "letterbox",
    "pad",
    "perspective",
    "resize",
    "vertical_flip",
}


def test_every_operation_is_here_and_exported():
    public = {
        name for name, value in vars(functional).items() if getattr(value, "__module__", "") == functional.__name__
    }
    assert (
        {name for name in public if not name.startswith("_")}
        == set(functional.__all__)
        == set(OPERATIONS) | OTHERS | GEOMETRY
    )


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_is_pillow_s_to_the_bit(name):
    theirs, parameters = OPERATIONS[name]
    compared = 0
    for title, picture in pictures():
        for parameter in parameters:
            given = () if parameter is None else (parameter,)
            made = getattr(functional, name)(picture, *given)
            expected = np.asarray(theirs(Image.fromarray(picture), *given))
            assert made.dtype == np.uint8
            assert np.array_equal(made, expected), f"{title}, {parameter}: {np.argwhere(made != expected)[:3]}"
            compared += made.size
    print(f"{name}: {compared} values are equal")


@pytest.mark.parametrize(
    "gains", [(0.0, 1.0, 1.0), (-0.015, 0.3, 1.4), (0.9, 1.7, 0.6), (0.5, 0.0, 0.0), (-1.0, 9.0, 9.0)]
)
def test_gains_of_hue_saturation_and_value_are_those_of_pillow_s_hsv(gains):
    for title, picture in pictures():
        expected = np.asarray(_gained(Image.fromarray(picture), gains))
        for match in ("pillow", "torch"):
            assert np.array_equal(functional.adjust_hsv(picture, *gains, match=match), expected), title


@pytest.mark.parametrize(("name", "parameter"), [("adjust_hue", 0.0), ("adjust_hue", 0.17), ("adjust_saturation", 1.6)])
def test_every_colour_becomes_what_pillow_makes_of_it(name, parameter):
    theirs, _ = OPERATIONS[name]
    picture = all_colours()
    expected = np.asarray(theirs(Image.fromarray(picture), parameter))
    assert np.array_equal(getattr(functional, name)(picture, parameter), expected)


FILTERS = {"nearest": Resampling.NEAREST, "bilinear": Resampling.BILINEAR, "bicubic": Resampling.BICUBIC}


@pytest.mark.parametrize("filter_name", FILTERS)
def test_a_rotation_is_pillow_s_to_the_bit(filter_name):
    angles = [0, 7.3, -30, 45, 90, 135.5, 180, 270, 359.999, 1e-9, 720.25, -135]
    for title, picture in pictures():
        height, width = picture.shape[:2]
        for angle, center, fill in zip(angles, [None, (0, 0), (width / 3, height - 1.5)] * 4, [None, (9, 200, 31)] * 6):
            made = functional.rotate(picture, angle, filter_name, center=center, fill=fill)
            expected = Image.fromarray(picture).rotate(angle, FILTERS[filter_name], False, center, fillcolor=fill or 0)
            assert np.array_equal(made, np.asarray(expected)), f"{title}, {angle} about {center}"


def test_a_move_by_whole_pixels_copies_them_and_a_scale_picks_them():
    picture = next(picture for title, picture in pictures() if title == "noise 97 x 61")
    for name in FILTERS:
        moved = functional.affine(picture, 0, (5, -3), 1, (0, 0), name, fill=7)
        assert np.array_equal(moved[:-3, 5:], picture[3:, :-5])
        assert (moved[-3:] == 7).all()
        assert (moved[:, :5] == 7).all()
    doubled = functional.affine(picture, 0, (0, 0), 2, (0, 0), center=(0, 0))
    assert np.array_equal(doubled[::2, ::2], picture[:49, :31])


@pytest.mark.parametrize(
    ("size", "sigma"), [(3, None), (5, 0.2), (23, (0.1, 2.0)), ((7, 1), 3.0), ((1, 9), 40.0), (1, 1.0)]
)
def test_a_blur_is_the_mean_by_a_gaussian_kernel(size, sigma):
    def kernel(size, sigma):
        at = (np.arange(size) - size // 2) / (sigma or size * 0.15 + 0.35)
        weights = np.exp(-(at**2) / 2)
        return weights / weights.sum()

    sizes = size if isinstance(size, tuple) else (size, size)
    sigmas = sigma if isinstance(sigma, tuple) else (sigma, sigma)
    along, down = kernel(sizes[0], sigmas[0]), kernel(sizes[1], sigmas[1])
    for title, picture in pictures():
        height, width = picture.shape[:2]
        if min(height, width) > 12:
            margins = [(sizes[1] // 2,) * 2, (sizes[0] // 2,) * 2, (0, 0)]
            padded = np.pad(picture.astype(float), margins, mode="reflect")
            rows = sum(weight * padded[number : number + height] for number, weight in enumerate(down))
            expected = sum(weight * rows[:, number : number + width] for number, weight in enumerate(along))
            made = functional.gaussian_blur(picture, size, sigma)
            assert np.abs(made - expected).max() < 0.501, title


def test_pictures_smaller_than_a_kernel_are_reflected_again_and_again():
    assert functional.gaussian_blur(np.full((1, 1, 3), 77, np.uint8), 23, 9.0).tolist() == [[[77] * 3]]
    line = np.array([[[0] * 3, [255] * 3]], np.uint8)
    assert functional.gaussian_blur(line, (3, 1), 1000.0)[0, :, 0].tolist() == [170, 85]


@pytest.mark.parametrize(
    ("value", "colour"), [(9, (9, 9, 9)), ((1, 2, 250), (1, 2, 250)), (np.array([3, 4, 5]), (3, 4, 5))]
)
def test_a_rectangle_is_filled_as_far_as_the_picture_has_it(value, colour):
    picture = next(picture for title, picture in pictures() if title == "noise 97 x 61")
    for i, j, h, w in [(0, 0, 97, 61), (5, 7, 11, 13), (90, 50, 30, 30), (2, 3, 0, 5), (500, 3, 4, 4)]:
        expected = picture.copy()
        expected[i : i + h, j : j + w] = colour
        assert np.array_equal(functional.erase(picture, i, j, h, w, value), expected)


def test_a_picture_stays_as_it_is_and_the_result_is_the_caller_s():
    picture = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    kept = picture.copy()
    cut = functional.invert(picture[::2, 1::2])
    assert np.array_equal(cut, 255 - kept[::2, 1::2]), "an array that is not in one piece"
    cut[:] = 0
    assert np.array_equal(picture, kept)


@pytest.mark.parametrize(
    "image",
    [np.zeros((4, 4)), np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8)],
)
def test_other_arrays_are_refused(image):
    with pytest.raises(ValueError, match="give a uint8 array of height x width x 3"):
        functional.invert(image)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda image: functional.adjust_hue(image, 0.6), "adjust_hue: hue_factor is 0.6"),
        (lambda image: functional.adjust_contrast(image, float("nan")), "expected value"),
        (lambda image: functional.posterize(image, 9), "posterize: bits is 9"),
        (lambda image: functional.posterize(image, 2.5), "invalid type: floating point"),
        (lambda image: functional.rgb_to_grayscale(image, 1), "every picture has three channels"),
        (lambda image: functional.gaussian_blur(image, 4), r"kernel_size is \[4, 4\]"),
        (lambda image: functional.gaussian_blur(image, 3, 0), "must be numbers of at least 0.001"),
        (lambda image: functional.erase(image, 0, 0, 1, 1, 300), "v must be one number or"),
        (lambda image: functional.erase(image, -1, 0, 1, 1, 3), "invalid value"),
        (lambda image: functional.rotate(image, 5, "lanczos3", expand=True), 'interpolation is "lanczos3"'),
        (lambda image: functional.perspective(image, [[0, 0]] * 4, [[0, 0]] * 4), "no three are on one line"),
        (lambda image: functional.affine_matrix(image, [1, 0, 0, 0, 1]), "invalid length 5"),
        (lambda image: functional.pillow_gaussian_blur(image, -1), "radius is"),
        (lambda image: functional.solarize_add(image, 256), "invalid value"),
        (lambda image: functional.pad(image, (1, 2, 3)), "padding must be one whole number, two or four"),
        (lambda image: functional.pad(image, 1, padding_mode="wrap"), "unknown variant `wrap`"),
        (lambda image: functional.pad(image, 16_385), "must be at most 16384"),
        (lambda image: functional.center_crop(image, 0), "each side must be from 1"),
        (lambda image: functional.rotate(image, 5, "lanczos3"), 'interpolation is "lanczos3"'),
        (lambda image: functional.rotate(image, 5, "bicubic", match="torch"), '"nearest" or "bilinear"'),
        (lambda image: functional.affine(image, 0, (0, 0), 0, (0, 0)), "scale is 0"),
        (lambda image: functional.affine(image, 0, (0, 0), 1, (0, 0), fill=256), "fill is"),
        (lambda image: functional.invert(image, match="cv2"), 'match is "cv2"; give one of "pillow", "torch"'),
    ],
)
def test_parameters_out_of_range_are_refused_with_what_is_allowed(call, words):
    with pytest.raises(ValueError, match=words):
        call(np.zeros((2, 2, 3), np.uint8))


def test_numbers_of_numpy_are_numbers():
    picture = np.full((2, 2, 3), 100, np.uint8)
    assert functional.adjust_brightness(picture, np.float32(0.5)).max() == 50
    assert functional.posterize(picture, np.int64(1)).max() == 0


def test_other_threads_run_while_an_operation_does():
    picture = np.zeros((600, 600, 3), np.uint8)
    assert rounds_until_seen(lambda: functional.adjust_hue(picture, 0.1), 2000) < 2000


def test_the_examples_run():
    found = doctest.testmod(functional)
    assert (found.failed, found.attempted > 2) == (0, True)


@pytest.mark.parametrize("function", [functional.invert, functional.horizontal_flip])
def test_a_result_is_the_memory_that_the_operation_wrote(function):
    given = np.random.default_rng(3).integers(0, 256, (7, 5, 3), np.uint8)
    kept = given.copy()
    made, again = function(given), function(given)
    assert isinstance(made.base, _native.Pixels)
    assert (made.dtype, made.shape, made.flags.writeable, made.flags.c_contiguous) == (np.uint8, kept.shape, True, True)
    expected = made.copy()
    again[:] = 7
    assert not np.shares_memory(made, given)
    assert (made == expected).all()
    assert (given == kept).all()


@pytest.mark.parametrize("width", [*range(1, 40), 224, 225])
def test_a_flipped_row_is_the_row_from_its_other_end(width):
    given = np.random.default_rng(width).integers(0, 256, (3, width, 3), np.uint8)
    assert (functional.horizontal_flip(given) == given[:, ::-1]).all()
