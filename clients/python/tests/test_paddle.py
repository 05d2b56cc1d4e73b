"""Batches as tensors of Paddle. Skipped if Paddle is not installed."""

import numpy as np
import pytest

paddle = pytest.importorskip("paddle", reason="Paddle is not installed; `make test-paddle` installs it")
import forebay  # noqa: E402 - after it was looked whether Paddle is there
import forebay.paddle  # noqa: E402 - it imports Paddle
from forebay import frameworks, reader  # noqa: E402 - the same

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_each_loop_is_an_epoch_with_every_record(pictures):
    settings = {"batch_size": 4, "size": 8, "shuffle": True, "epochs": 3}
    with forebay.paddle.batches(
        pictures(10, classes=2), elements=("images", "labels", "records"), **settings
    ) as loader:
        # As paddle.io.DataLoader: iterated over, or called.
        for epoch in (loader, loader(), loader()):
            seen = []
            for batch in epoch:
                assert isinstance(batch, list)
                assert all(isinstance(each, paddle.Tensor) for each in batch)
                images, labels, records = batch
                assert (images.dtype, labels.dtype) == (paddle.uint8, paddle.int64)
                np.testing.assert_array_equal(images.numpy()[:, 0, 0, 0], records.numpy())
                np.testing.assert_array_equal(labels.numpy(), records.numpy() // 5)
                seen += records.tolist()
            assert sorted(seen) == list(range(10))
        assert [audit.adds_up for audit in loader.audit()] == [True] * 3


def test_tensors_are_copies_that_may_be_kept_and_written_to(pictures):
    with forebay.paddle.batches(pictures(40), batch_size=4, size=8, epochs=1, as_dict=True) as loader:
        kept = [batch["images"] for batch in loader]
    for images in kept:
        images[:, 0, 0, 1] = 7
    assert [images[0, 0, 0].tolist() for images in kept] == [[first, 7, 200] for first in range(0, 40, 4)]


def test_paddle_uses_the_copy_as_it_is(pictures, monkeypatch):
    copies = []
    aligned = forebay.paddle.aligned_copy
    monkeypatch.setattr(forebay.paddle, "aligned_copy", lambda array: copies.append(aligned(array)) or copies[-1])
    with forebay.paddle.batches(pictures(4), batch_size=4, size=8, epochs=1) as loader:
        images, labels = loader.next()
    assert [each.data_ptr() for each in (images, labels)] == [copy.ctypes.data for copy in copies]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "float32"])
def test_types_are_paddles(pictures, dtype):
    wanted = getattr(paddle, dtype)
    settings = {"elements": ["images", "mask"], "batch_size": 4, "size": 8, "epochs": 1, "dtype": wanted}
    with forebay.paddle.batches(pictures(4), **settings) as loader:
        images, mask = loader.next()
    assert (images.dtype, mask.dtype) == (wanted, paddle.bool)
    scale = 1 if dtype == "uint8" else 255
    expected = paddle.to_tensor(np.arange(4, dtype=np.float32) / scale).astype(wanted)
    assert images[:, 0, 0, 0].astype("float32").tolist() == expected.astype("float32").tolist()
    assert mask.tolist() == [True] * 4


def test_a_step_of_training_is_the_same_as_with_paddles_own_tensors(pictures):
    model = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(8 * 8 * 3, 2))
    settings = {"batch_size": 8, "size": 8, "dtype": "float32", "layout": "NCHW", "epochs": 1}
    with forebay.paddle.batches(pictures(16, classes=2), **settings) as loader:
        for images, labels in loader:
            gradients = []
            for batch in ((images, labels), (paddle.to_tensor(images.numpy()), paddle.to_tensor(labels.numpy()))):
                loss = paddle.nn.functional.cross_entropy(model(batch[0]), batch[1])
                loss.backward()
                gradients.append(model[1].weight.grad.numpy().copy())
                model.clear_gradients()
            assert np.abs(gradients[0]).max() > 0
            np.testing.assert_allclose(*gradients, rtol=1e-5, atol=1e-7)


def test_rule_64_each_batch_has_tensors_of_its_own_bucket(sized):
    sized = sized()
    names = ("images", "planned", "sizes", "shown", "crop")
    with sized.loader(shuffle=True) as loader:
        expected = [batch.copy() for batch in loader]
    with sized.loader(shuffle=True) as loader:
        found = list(forebay.paddle.batches(loader, elements=names))
    assert len(found) == len(expected)
    for columns, batch in zip(found, expected):
        for name, column in zip(names, columns):
            assert (column.numpy() == batch[name]).all()
    assert len({tuple(images.shape) for images, *_ in found}) == 3


def test_a_reader_gives_tensors_too(pictures):
    with reader.over(forebay.paddle.batches(pictures(6), batch_size=4, size=8, epochs=1)) as read:
        firsts = []
        while read.has_next():
            images, _ = read.read_next()
            firsts.append(int(images[0, 0, 0, 0]))
    assert firsts == [0, 4]


def test_ranks_are_those_of_an_initialised_paddle_distributed(monkeypatch):
    assert frameworks.ranks() is None
    for name, answer in (("is_initialized", True), ("get_rank", 2), ("get_world_size", 4)):
        monkeypatch.setattr(paddle.distributed, name, lambda answer=answer: answer)
    assert frameworks.ranks() == (2, 4, "paddle.distributed")


def test_what_cannot_be_is_refused_with_the_way_out(pictures, annotated):
    with forebay.Loader(pictures(4), batch_size=4, size=8) as loader:
        with pytest.raises(forebay.SettingsError, match="'boxes' is not a column; the columns are images, labels"):
            forebay.paddle.batches(loader, elements=["boxes"])
        with pytest.raises(forebay.SettingsError, match="give a tuple of names"):
            forebay.paddle.batches(loader, elements="images")
        with pytest.raises(forebay.SettingsError, match="batch_size: the Loader has its settings already"):
            forebay.paddle.batches(loader, batch_size=2)
    with pytest.raises(forebay.SettingsError, match="'boxes' has a list for each place"):
        forebay.paddle.batches(annotated, elements=["boxes"], batch_size=2, size=8)
