"""Lists of different lengths, as one array and offsets."""

import numpy as np
import pytest
from forebay import Ragged

# Two places: the first has the polygons [0, 1], [2] and one without points; the second has none.
VALUES = np.arange(6).reshape(3, 2)
NESTED = Ragged(VALUES, (np.array([0, 3, 3]), np.array([0, 2, 3, 3])))


def test_nested_lists_are_read_place_by_place():
    assert NESTED.tolist() == [[[[0, 1], [2, 3]], [[4, 5]], []], []]
    assert NESTED.lengths.tolist() == [3, 0]
    assert (NESTED[0][1].tolist(), len(NESTED[-1]), repr(NESTED)) == (
        [[4, 5]],
        0,
        "<forebay.Ragged int64 [*][*, 2], 2 places>",
    )


def test_a_part_counts_its_offsets_from_its_own_start():
    part = NESTED[0][1:]
    assert (part.tolist(), part.offsets[0].tolist(), part.values.tolist()) == ([[[4, 5]], []], [0, 1, 1], [[4, 5]])
    assert NESTED[:0].tolist() == []
    assert NESTED[1:].values.shape == (0, 2)


def test_a_view_shares_memory_and_a_copy_does_not():
    values = np.zeros(4, np.uint8)
    ragged = Ragged(values, (np.array([0, 1, 4]),))
    copy = ragged.copy()
    values[2] = 7
    assert (ragged[1].tolist(), copy[1].tolist()) == ([0, 7, 0], [0, 0, 0])


def test_texts_are_text_and_other_values_are_not():
    letters = np.frombuffer("aÄ".encode() + b"\xff", np.uint8)
    assert Ragged(letters, (np.array([0, 1, 3, 4]),)).text() == ["a", "Ä", "\ufffd"]
    assert Ragged(letters, (np.array([0, 2, 3]), np.array([0, 1, 3, 4]))).text() == [["a", "Ä"], ["\ufffd"]]
    with pytest.raises(TypeError, match="uint8"):
        Ragged(VALUES, (np.array([0, 3]),)).text()


def test_what_is_not_there_is_an_error():
    for place in (2, -3):
        with pytest.raises(IndexError, match=f"place {place} of 2"):
            NESTED[place]
    with pytest.raises(IndexError, match="neighbours"):
        NESTED[::2]
