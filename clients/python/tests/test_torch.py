"""Batches as tensors; skipped where PyTorch is not installed."""

from typing import ClassVar

import forebay
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_rule_14_tensors_are_copies_that_may_be_kept_and_written(pictures):
    with forebay.Loader(pictures(20), batch_size=4, size=8, epochs=1) as loader:
        batches = list(loader.torch())
    assert len(batches) == len(loader.torch()) == 5
    assert torch.cat([batch.records for batch in batches]).tolist() == list(range(20))
    batches[0].images.zero_()
    assert batches[1].images[0, 0, 0].tolist() == [4, 100, 200]
    assert (batches[0].labels.dtype, batches[0].valid) == (torch.int64, 4)


@pytest.mark.filterwarnings("error")
def test_rule_14_views_share_the_rings_memory(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, dtype="float16") as loader:
        for batch in loader.torch(copy=False):
            assert batch.images.dtype == torch.float16
            assert np.shares_memory(batch.images.numpy(), batch.images[1:].numpy())


def test_rule_14_a_view_keeps_its_memory(pictures):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1) as loader:
        views = loader.torch(copy=False)
        kept = views.next().images
        assert [views.next().valid for _ in range(9)] == [4] * 9
        assert kept[:, 0, 0, 0].tolist() == [0, 1, 2, 3]


class Mark:
    """Stands for `torch.cuda.Event` where there is no GPU."""

    made: ClassVar[list] = []

    def __init__(self):
        self.stream = None
        self.waited = False
        Mark.made.append(self)

    def record(self, stream):
        self.stream = stream

    def query(self):
        return False

    def synchronize(self):
        self.waited = True


def test_rule_14_a_slot_goes_back_when_the_copies_to_another_device_are_done(pictures, monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", Mark)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    Mark.made.clear()
    with forebay.Loader(pictures(20), batch_size=4, size=8, epochs=1) as loader:
        for batch in loader.torch(device="meta"):
            assert (batch.images.device.type, batch.labels.device.type) == ("meta", "meta")
            assert not Mark.made[-1].waited
        assert [mark.stream for mark in Mark.made] == ["stream of meta"] * 5
        assert [mark.waited for mark in Mark.made] == [True] * 4 + [False]
    assert Mark.made[-1].waited, "close() waits for the last"


def test_everything_else_is_the_loader_s_own(pictures):
    names = {name for name in dir(forebay.Loader) if not name.startswith("_")} - {"torch"}
    with forebay.Loader(pictures(12, classes=2), batch_size=4, size=8, epochs=2).torch() as tensors:
        assert names <= set(dir(tensors))
        assert (tensors.classes, tensors.path(0)) == (tensors.loader.classes, tensors.loader.path(0))
        state = tensors.state_dict()
        tensors.next()
        tensors.load_state_dict(state)
        assert sum(batch.valid for batch in tensors) == 12
        tensors.next()
        tensors.reset()
        assert [audit.abandoned for audit in tensors.audit()] == [0, 8]
        assert tensors.quarantine == []
    with pytest.raises(forebay.ClosedError):
        tensors.next()


def test_pytorch_s_own_dataloader_takes_it_in_this_process(pictures):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(loader.torch())

    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        batches = list(torch.utils.data.DataLoader(Stream(), batch_size=None))
        assert [batch.valid for batch in batches] == [4, 4, 4]
        assert torch.cat([batch.records for batch in batches]).tolist() == list(range(12))
