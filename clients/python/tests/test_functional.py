"""Operations against Pillow, called as `torchvision.transforms.v2.functional` calls it: equal to the bit."""

import doctest
import sys
import threading

import numpy as np
import pytest
from forebay.transforms import functional
from PIL import Image, ImageEnhance, ImageOps
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


def _posterized(image, bits):
    """Pillow refuses 0 bits since its release 13."""
    return ImageOps.posterize(image, bits) if bits else Image.new("RGB", image.size)


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
}


def test_every_operation_is_here_and_exported():
    public = {
        name for name, value in vars(functional).items() if getattr(value, "__module__", "") == functional.__name__
    }
    assert {name for name in public if not name.startswith("_")} == set(functional.__all__) == set(OPERATIONS)


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


@pytest.mark.parametrize(("name", "parameter"), [("adjust_hue", 0.0), ("adjust_hue", 0.17), ("adjust_saturation", 1.6)])
def test_every_colour_becomes_what_pillow_makes_of_it(name, parameter):
    theirs, _ = OPERATIONS[name]
    picture = all_colours()
    expected = np.asarray(theirs(Image.fromarray(picture), parameter))
    assert np.array_equal(getattr(functional, name)(picture, parameter), expected)


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
    started, seen = threading.Event(), threading.Event()
    rounds = []

    def work():
        started.set()
        while not seen.is_set() and len(rounds) < 2000:
            functional.adjust_hue(picture, 0.1)
            rounds.append(1)

    # No thread has to give the interpreter up by itself: the main thread goes on only if an operation lets it.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        seen.set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(rounds) < 2000


def test_the_examples_run():
    found = doctest.testmod(functional)
    assert (found.failed, found.attempted > 2) == (0, True)
