"""Which epochs `forebay.torch.DataLoader` reads for a sampler. Skipped if PyTorch or torchvision is not installed."""

import forebay
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader  # noqa: E402 - it imports PyTorch
from torch.utils import data  # noqa: E402 - after it was looked whether it is there
from torchvision import transforms as v1  # noqa: E402 - the same
from torchvision.datasets import ImageFolder  # noqa: E402 - the same

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

TENSOR = v1.Compose([v1.Resize((8, 8)), v1.PILToTensor()])


def numbers(loader):
    """The records of an iteration: the pictures of the tests have their number as colour."""
    return [int(number) for images, _ in loader for number in images[:, 0, 0, 0]]


def test_a_batch_that_was_looked_at_before_a_samplers_epochs_gives_no_epoch_twice(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    whole = DataLoader(dataset, batch_size=5, shuffle=True, sharding="dynamic", seed=9)
    orders = [numbers(whole) for _ in range(6)]
    whole.close()
    sampler = data.DistributedSampler(dataset, num_replicas=1, rank=0, seed=9)
    loader = DataLoader(dataset, batch_size=5, sampler=sampler)
    next(iter(loader))
    seen = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        seen.append(numbers(loader))
    assert seen == orders[1:4], "the epoch that was looked at is the first, and none comes twice"
    assert all(epoch.repeats == {} for epoch in loader.loader.audit())
    # A sampler that goes elsewhere is followed.
    sampler.set_epoch(5)
    assert numbers(loader) == orders[5]
    sampler.set_epoch(2)
    assert numbers(loader) == orders[2]
    loader.close()


def test_a_sampler_that_goes_on_before_an_epoch_was_read_is_followed(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    sampler = data.DistributedSampler(dataset, num_replicas=1, rank=0)
    loader = DataLoader(dataset, batch_size=5, sampler=sampler)
    iter(loader)
    sampler.set_epoch(1)
    numbers(loader)
    assert loader.epoch == 2
    loader.close()


def test_a_state_keeps_its_epoch_whatever_the_sampler_says(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    sampler = data.DistributedSampler(dataset, num_replicas=1, rank=0)
    loader = DataLoader(dataset, batch_size=5, sampler=sampler)
    next(iter(loader))
    # The run is one epoch ahead of the script's count, and in the middle of it.
    sampler.set_epoch(0)
    batches = iter(loader)
    seen = next(batches)
    state = loader.state_dict()
    rest = [int(number) for batch in batches for number in batch[0][:, 0, 0, 0]]
    loader.close()
    sampler = data.DistributedSampler(dataset, num_replicas=1, rank=0)
    later = DataLoader(dataset, batch_size=5, sampler=sampler)
    later.load_state_dict(state)
    sampler.set_epoch(0)
    assert numbers(later) == rest
    assert len(rest) == 20 - len(seen[0])
    sampler.set_epoch(1)
    numbers(later)
    assert later.epoch == 3
    later.close()


def test_an_epoch_of_the_sampler_that_could_not_be_begun_is_tried_again(pictures, monkeypatch):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    sampler = data.DistributedSampler(dataset, num_replicas=1, rank=0)
    loader = DataLoader(dataset, batch_size=5, sampler=sampler)
    sampler.set_epoch(3)

    def fail(epoch):
        raise forebay.Error(f"epoch {epoch} cannot begin")

    with monkeypatch.context() as broken:
        broken.setattr(loader, "set_epoch", fail)
        with pytest.raises(forebay.Error, match="epoch 3 cannot begin"):
            iter(loader)
    numbers(loader)
    assert loader.epoch == 4
    loader.close()
