"""Batches as tensors; skipped where PyTorch is not installed."""

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
