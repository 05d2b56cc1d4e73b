"""What entrants share: the stopwatch's rounds, and the parts that hand-written loops take."""

import itertools

import numpy as np
import parts
import pytest
import stopwatch


def test_whole_rounds_are_taken_until_enough_pictures_are_through():
    batches = itertools.repeat(10)
    assert stopwatch.take(batches, length=3, seconds=0, pictures=1) == 30
    assert stopwatch.take(batches, length=3, seconds=0, pictures=31) == 60
    assert stopwatch.take(batches, length=3, seconds=0, pictures=0) == 0


def test_a_batch_of_another_kind_or_size_is_an_error():
    side = stopwatch.SIZE
    assert stopwatch.touch(np.zeros((2, side, side, 3), np.uint8)) == 2
    for batch in (np.zeros((2, side, side, 3), np.float32), np.zeros((2, side, side - 1, 3), np.uint8)):
        with pytest.raises(TypeError, match="not 8-bit RGB"):
            stopwatch.touch(batch)


def test_a_batch_of_several_views_has_all_of_them_for_each_picture():
    sides = stopwatch.VIEWS["dinov2"]
    views = [np.zeros((2, side, side, 3), np.uint8) for side in sides]
    assert stopwatch.touch(views, sides) == 2
    with pytest.raises(TypeError, match="9 views of each picture, not 10"):
        stopwatch.touch(views[:-1], sides)
    with pytest.raises(TypeError, match="not 8-bit RGB of 96 x 96"):
        stopwatch.touch([*views[:-1], views[-1][:1]], sides)


@pytest.mark.parametrize(("width", "height"), [(500, 375), (40, 900), (1, 1)])
def test_random_parts_lie_inside_the_picture(width, height):
    for _ in range(200):
        left, top, right, bottom = parts.random_part(width, height)
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height


def test_the_middle_is_what_becomes_224_of_256():
    assert parts.middle(512, 256) == (144.0, 16.0, 368.0, 240.0)
