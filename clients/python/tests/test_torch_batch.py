"""What code may do with a batch of tensors. Skipped if PyTorch is not installed."""

import copy
import dataclasses
import pickle

import forebay
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
from forebay.torch import TorchBatch, TorchRagged  # noqa: E402


@pytest.fixture
def batch():
    """Four places with boxes and a weight. The third place has no weight."""
    return TorchBatch(
        torch.zeros(4, 8, 8, 3, dtype=torch.uint8),
        torch.tensor([3, 1, 0, 1]),
        torch.arange(4),
        torch.tensor([True, True, True, False]),
        3,
        0,
        columns={
            "boxes": TorchRagged(torch.ones(3, 4), (torch.tensor([0, 0, 2, 3, 3]),)),
            "weight": torch.tensor([0.5, 1.0, 0.0, 2.0]),
        },
        validity={"boxes": torch.ones(4, dtype=torch.bool), "weight": torch.tensor([True, True, False, True])},
    )


def tensors(batch):
    """All tensors of a batch."""
    always = [batch.images, batch.labels, batch.records, batch.mask]
    return [*always, batch.boxes.values, *batch.boxes.offsets, batch.weight, *batch.validity.values()]


def are_equal(one, other):
    """Whether two batches have the same values, in other objects."""
    pairs = zip(tensors(one), tensors(other))
    assert one is not other
    assert type(one) is type(other)
    return all(map(torch.equal, *zip(*pairs))) and (one.valid, one.epoch) == (other.valid, other.epoch)


@pytest.mark.daemon
@pytest.mark.usefixtures("binary")
@pytest.mark.parametrize("copied", [True, False])
def test_a_loop_unpacks_images_and_labels(pictures, copied):
    with forebay.Loader(pictures(8, classes=2), batch_size=4, size=8, epochs=1) as loader:
        found = []
        for images, labels in loader.torch(copy=copied):
            assert images.shape == (4, 8, 8, 3)
            found += labels.tolist()
    assert found == [0] * 4 + [1] * 4


def test_a_batch_is_a_pair_that_has_more_by_name(batch):
    images, labels, *rest = batch
    assert (images is batch.images, labels is batch.labels, rest, len(batch)) == (True, True, [], 2)
    assert (batch[0] is images, batch[1] is labels, batch[-1] is labels) == (True, True, True)
    assert [len(batch[:]), len(batch[1:]), batch[:1][0] is images] == [2, 1, True]
    with pytest.raises(IndexError):
        batch[2]
    assert not isinstance(batch, tuple)
    assert (batch["valid"], "weight" in batch, "weights" in batch, "weight" in dir(batch)) == (3, True, False, True)


def test_attributes_are_assigned_and_misspelt_ones_refused(batch):
    batch.images = torch.ones(1)
    batch.weight = torch.zeros(4)
    assert batch[0].tolist() == [1]
    assert batch.columns["weight"].tolist() == batch["weight"].tolist() == [0] * 4
    with pytest.raises(AttributeError, match="image"):
        batch.image = torch.ones(1)
    other = dataclasses.replace(batch, labels=torch.zeros(4))
    assert (batch.labels.tolist(), other.labels.tolist()) == ([3, 1, 0, 1], [0] * 4)
    assert other.weight is batch.weight


def test_a_batch_can_be_pickled_and_copied(batch):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert are_equal(pickle.loads(pickle.dumps(batch, protocol)), batch)
    assert are_equal(copy.deepcopy(batch), batch)
    assert copy.deepcopy(batch).weight is not batch.weight
    shallow = copy.copy(batch)
    assert (are_equal(shallow, batch), shallow.images is batch.images) == (True, True)
    shallow.weight = None
    assert batch.weight is not None, "a copy has its own dicts"


def test_a_repr_has_shapes_and_no_values(batch):
    assert repr(batch) == (
        "TorchBatch(images=uint8 (4, 8, 8, 3), labels=int64 (4,), records=int64 (4,), mask=bool (4,), valid=3, "
        "epoch=0, boxes=ragged float32 (3, 4), weight=float32 (4,))"
    )
    assert "labels=int64 (4,) on meta" in repr(batch.to("meta"))


def test_every_tensor_is_moved(batch):
    moved = batch.to("meta", non_blocking=True)
    assert {tensor.device.type for tensor in tensors(moved)} == {"meta"}
    assert {tensor.device.type for tensor in tensors(batch)} == {"cpu"}
    assert (moved.valid, moved.epoch) == (3, 0)


def test_pytorch_pins_every_tensor(batch, monkeypatch):
    pinned = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: pinned.append(tensor) or tensor.clone())
    assert are_equal(torch.utils.data._utils.pin_memory.pin_memory(batch), batch)
    assert all(one is other for one, other in zip(sorted(pinned, key=id), sorted(tensors(batch), key=id)))
    assert len(pinned) == len(tensors(batch))


def test_pytorch_s_dataloader_leaves_a_batch_whole(batch):
    assert torch.utils.data.default_convert(batch) is batch
    (found,) = torch.utils.data.DataLoader([batch], batch_size=None)
    assert found is batch
    (found,) = torch.utils.data.DataLoader([batch], batch_size=None, num_workers=1)
    assert are_equal(found, batch)


def test_lightning_moves_a_batch_whole_and_knows_its_size(batch):
    pytest.importorskip("lightning", reason="Lightning is not installed; `make test-torch` installs it")
    from lightning.fabric.utilities import move_data_to_device
    from lightning.pytorch.utilities.data import extract_batch_size

    assert are_equal(move_data_to_device(batch, torch.device("cpu")), batch)
    assert {each.device.type for each in tensors(move_data_to_device(batch, "meta"))} == {"meta"}
    assert extract_batch_size(batch) == 4


def test_accelerate_moves_a_batch_whole(batch):
    operations = pytest.importorskip("accelerate.utils.operations", reason="`make test-torch` installs accelerate")
    assert are_equal(operations.send_to_device(batch, "cpu"), batch)
    assert {each.device.type for each in tensors(operations.send_to_device(batch, "meta", True))} == {"meta"}


def test_accelerate_prepares_a_dataloader_of_batches_that_it_does_not_cut_apart(batch):
    accelerate = pytest.importorskip("accelerate", reason="`make test-torch` installs accelerate")

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([batch])

    whole = accelerate.utils.DataLoaderConfiguration(dispatch_batches=False)
    accelerator = accelerate.Accelerator(cpu=True, dataloader_config=whole)
    (found,) = accelerator.prepare(torch.utils.data.DataLoader(Stream(), batch_size=None))
    assert are_equal(found, batch)
