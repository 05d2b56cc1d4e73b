"""Ragged pictures as tensors of PyTorch (semantics rule 63)."""

import numpy as np
import pytest
from sized import RECORDS

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_rule_63_a_batch_has_a_list_of_tensors_which_are_views_of_the_slot(sized):
    sized = sized()
    with sized.loader(buckets="ragged") as loader:
        seen = 0
        for batch in loader.torch(copy=False):
            images, _labels = batch
            assert [list(image.shape[:2]) for image in images] == batch.shown.tolist()
            assert len({image.untyped_storage().data_ptr() for image in images}) == 1, "views of one memory"
            moved = batch.to("cpu")
            assert [image.shape for image in moved.images] == [image.shape for image in images]
            seen += int(batch.mask.sum())
        assert seen == RECORDS
        assert "uint8" in repr(batch)


def test_rule_63_copies_have_the_same_pixels(sized):
    sized = sized()
    with sized.loader(buckets="ragged") as viewed, sized.loader(buckets="ragged") as copied:
        for one, other in zip(viewed, copied.torch()):
            assert all(np.array_equal(array, tensor.numpy()) for array, tensor in zip(one.images, other.images))
