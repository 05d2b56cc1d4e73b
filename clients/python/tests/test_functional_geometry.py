"""Operations that move pixels, against Pillow and numpy: equal to the bit."""

import numpy as np
import pytest
from forebay import transforms
from forebay.transforms import functional
from PIL import Image
from PIL.Image import Resampling
from reference_pictures import pictures

FILTERS = {"nearest": Resampling.NEAREST, "bilinear": Resampling.BILINEAR, "bicubic": Resampling.BICUBIC}


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_a_border_is_numpy_s_of_which_torchvision_makes_it(mode):
    value = {"constant_values": 7} if mode == "constant" else {}
    for title, picture in pictures():
        for padding, (left, above, right, below) in [
            (3, (3, 3, 3, 3)),
            ((2, 5), (2, 5, 2, 5)),
            ((1, 0, 700, 9), (1, 0, 700, 9)),
            (0, (0, 0, 0, 0)),
        ]:
            expected = np.pad(picture, ((above, below), (left, right), (0, 0)), mode, **value)
            made = functional.pad(picture, padding, 7, mode)
            assert np.array_equal(made, expected), f"{title}, {padding}"


def test_a_smaller_picture_is_padded_in_its_middle_in_each_mode():
    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    for mode in ("edge", "reflect", "symmetric"):
        expected = np.pad(picture, ((3, 4), (2, 2), (0, 0)), mode)
        assert np.array_equal(transforms.Pad((11, 9), padding_mode=mode)(picture), expected)


def test_a_part_is_black_beyond_the_picture():
    for title, picture in pictures():
        height, width = picture.shape[:2]
        image = Image.fromarray(picture)
        for top, left, high, wide in [
            (0, 0, 1, 1),
            (-2, -3, height + 5, width + 4),
            (height // 2, 1, 9, 11),
            (-9, 700, 4, 4),
        ]:
            expected = np.asarray(image.crop((left, top, left + wide, top + high)))
            assert np.array_equal(functional.crop(picture, top, left, high, wide), expected), title


def _centered(picture, high, wide):
    """The centre crop of torchvision: a border where the picture is too small, then the middle."""
    height, width = picture.shape[:2]
    rows, columns = max(high - height, 0), max(wide - width, 0)
    padded = np.pad(picture, ((rows // 2, (rows + 1) // 2), (columns // 2, (columns + 1) // 2), (0, 0)))
    top, left = round((padded.shape[0] - high) / 2), round((padded.shape[1] - wide) / 2)
    return padded[top : top + high, left : left + wide]


def test_a_centre_crop_beyond_the_edges_is_torchvision_s():
    for title, picture in pictures():
        for size in [(1, 1), (3, 4), (100, 7), (601, 602), (98, 62)]:
            assert np.array_equal(functional.center_crop(picture, size), _centered(picture, *size)), f"{title}, {size}"


def test_a_flip_mirrors_and_a_resize_is_pillow_s():
    for title, picture in pictures():
        assert np.array_equal(functional.horizontal_flip(picture), picture[:, ::-1])
        assert np.array_equal(functional.vertical_flip(picture), picture[::-1])
        for name, size in [("bilinear", (31, 45)), ("bicubic", (5, 300)), ("nearest", (64, 64))]:
            expected = Image.fromarray(picture).resize(size[::-1], FILTERS[name])
            assert np.array_equal(functional.resize(picture, size, name), np.asarray(expected)), f"{title}, {size}"


def test_a_letterbox_has_yolo_s_size_and_border():
    for title, picture in pictures():
        height, width = picture.shape[:2]
        for high, wide in [(64, 64), (40, 97), (301, 20)]:
            factor = min(high / height, wide / width)
            inner = max(1, round(height * factor)), max(1, round(width * factor))
            resized = np.asarray(Image.fromarray(picture).resize(inner[::-1], Resampling.BILINEAR))
            above, left = (high - inner[0]) // 2, (wide - inner[1]) // 2
            border = ((above, high - inner[0] - above), (left, wide - inner[1] - left), (0, 0))
            expected = np.pad(resized, border, constant_values=114)
            assert np.array_equal(functional.letterbox(picture, (high, wide)), expected), f"{title}, {high} x {wide}"


@pytest.mark.parametrize("name", FILTERS)
def test_a_rotation_that_shows_all_of_the_picture_is_pillow_s(name):
    angles = [0, 7.3, -30, 45, 90, 135.5, 180, 270, 359.999, 1e-9, 720.25, -135]
    for title, picture in pictures():
        height, width = picture.shape[:2]
        for angle, center, fill in zip(angles, [None, (0, 0), (width / 3, height - 1.5)] * 4, [None, (9, 200, 31)] * 6):
            made = functional.rotate(picture, angle, name, expand=True, center=center, fill=fill)
            expected = Image.fromarray(picture).rotate(angle, FILTERS[name], True, center, fillcolor=fill or 0)
            assert np.array_equal(made, np.asarray(expected)), f"{title}, {angle} about {center}"


def test_a_tensor_s_rotation_darkens_to_its_edge_once_and_twice_where_black_is_blended_in():
    white = np.full((21, 30, 3), 255, np.uint8)
    for expand in (False, True):
        given = {"interpolation": "bilinear", "expand": expand, "match": "torch"}
        plain = functional.rotate(white, 33, **given)
        blended = functional.rotate(white, 33, fill=0, **given)
        # Both are a share of white: of the picture, and once more of its mask.
        share = plain / 255
        assert np.abs(blended - 255 * share * share).max() <= 1
        assert (np.abs(blended.astype(int) - plain) > 10).any(), "edges lie between pixels"


@pytest.mark.parametrize("name", FILTERS)
def test_a_matrix_moves_pixels_as_pillow_moves_them(name):
    matrices = [(1, 0.3, 0, 0, 1, 0), (1, 0, 0, -0.27, 1, 0), (1, 0, 12.6, 0, 1, 0), (1, 0, 0, 0, 1, -7.25)]
    for title, picture in pictures():
        image = Image.fromarray(picture)
        for matrix in [*matrices, (0.4, 0.1, 3, -0.2, 1.7, 9), (0, 1, 0, 1, 0, 0)]:
            made = functional.affine_matrix(picture, matrix, name, (124, 116, 104))
            expected = image.transform(
                image.size, Image.Transform.AFFINE, matrix, FILTERS[name], fillcolor=(124, 116, 104)
            )
            assert np.array_equal(made, np.asarray(expected)), f"{title}, {matrix}"


def _coefficients(start, end):
    """torchvision's, by least squares in double precision, rounded to single."""
    rows, right = [], []
    for (x, y), (column, row) in zip(end, start):
        rows += [[x, y, 1, 0, 0, 0, -column * x, -column * y], [0, 0, 0, x, y, 1, -row * x, -row * y]]
        right += [column, row]
    return np.linalg.lstsq(np.array(rows, float), np.array(right, float), rcond=None)[0].astype(np.float32).tolist()


@pytest.mark.parametrize("name", FILTERS)
def test_a_perspective_is_pillow_s_to_the_bit(name):
    random = np.random.default_rng(3)
    compared = 0
    for title, picture in pictures():
        height, width = picture.shape[:2]
        if min(height, width) < 8:
            continue
        start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        for fill in (None, (9, 200, 31)):
            inwards = random.integers(0, min(height, width) // 3, (4, 2)) * [[1, 1], [-1, 1], [-1, -1], [1, -1]]
            end = (np.array(start) + inwards).tolist()
            made = functional.perspective(picture, start, end, name, fill)
            image = Image.fromarray(picture)
            expected = image.transform(
                image.size, Image.Transform.PERSPECTIVE, _coefficients(start, end), FILTERS[name], fillcolor=fill or 0
            )
            assert np.array_equal(made, np.asarray(expected)), f"{title}, to {end}"
            compared += made.size
    print(f"perspective {name}: {compared} values are equal")
