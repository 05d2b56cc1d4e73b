"""A batch over plain arrays, in place of the ring's memory."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from forebay import ClosedError
from forebay.batch import Batch


class Decision:
    """Records what was decided."""

    def __init__(self):
        self.said = []

    def ack(self):
        self.said.append("ack")

    def reject(self):
        self.said.append("reject")


def lent(shown=3, valid=3):
    arrays = {
        "images": np.arange(4 * 2 * 2 * 3, dtype=np.uint8).reshape(4, 2, 2, 3),
        "labels": np.array([0, 1, 0, 0]),
        "records": np.array([7, 8, 9, 9]),
        "mask": np.array([True, True, True, False]),
    }
    for array in arrays.values():
        array.flags.writeable = False
    return SimpleNamespace(counts=(2, valid, shown), decision=Decision(), columns=[], **arrays)


def test_rule_06_views_show_what_the_policy_shows_and_padded_shows_all():
    batch = Batch(lent())
    assert batch.images.shape == (3, 2, 2, 3)
    assert batch.records.tolist() == [7, 8, 9]
    assert batch.mask.tolist() == [True, True, True]
    assert batch.padded.records.tolist() == [7, 8, 9, 9]
    assert batch.padded.mask.tolist() == [True, True, True, False]
    assert (len(batch), batch.valid, batch.epoch) == (3, 3, 2)


def test_rule_14_a_copy_may_be_written_and_outlives_the_batch():
    batch = Batch(lent())
    twin = batch.copy()
    batch._let_go()
    twin.images[:] = 1
    assert twin.copy().images.sum() == 3 * 2 * 2 * 3
    with pytest.raises(ClosedError, match="copy"):
        _ = batch.images


def test_rejecting_lets_go_of_the_slot_but_not_of_arrays_in_hand():
    native = lent()
    batch = Batch(native)
    images = batch.images
    batch.reject()
    assert native.decision.said == ["reject"]
    assert images.shape == (3, 2, 2, 3)
    with pytest.raises(ClosedError):
        _ = batch.labels


def test_a_copy_can_be_pickled_and_a_batch_of_the_ring_cannot():
    batch = Batch(lent())
    with pytest.raises(TypeError, match=r"batch\.copy\(\)"):
        pickle.dumps(batch)
    copy = batch.copy()
    copies = [pickle.loads(pickle.dumps(copy, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for twin in [*copies, copies[0].copy()]:
        assert all(np.array_equal(ours, theirs) for ours, theirs in zip(copy.padded, twin.padded))
        assert (len(twin), twin.valid, twin.epoch, twin.columns) == (3, 3, 2, copy.columns)
        twin.images[:] = 1
        for decide in (twin.ack, twin.reject):
            with pytest.raises(ClosedError, match="pickled"):
                decide()


def test_a_copy_decides_for_its_batch():
    native = lent()
    Batch(native).copy().ack()
    assert native.decision.said == ["ack"]
