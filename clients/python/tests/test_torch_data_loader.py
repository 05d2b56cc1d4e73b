"""`forebay.torch.DataLoader` in place of torch's. Skipped if PyTorch or torchvision is not installed."""

import collections
import json
import types

import forebay
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader  # noqa: E402 - it imports PyTorch
from torch.utils import data  # noqa: E402 - after it was looked whether it is there
from torchvision import transforms as v1  # noqa: E402 - the same
from torchvision.datasets import DatasetFolder, ImageFolder  # noqa: E402 - the same

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
EVALUATION = v1.Compose([v1.Resize(40), v1.CenterCrop(32), v1.ToTensor(), v1.Normalize(MEAN, STD)])
VALUES = v1.Compose(
    [
        v1.Resize((40, 48)),
        v1.RandomSolarize(100, p=1.0),
        v1.RandomApply([v1.Grayscale(3), v1.RandomInvert(p=1.0)], p=1.0),
        v1.RandomHorizontalFlip(p=1.0),
        v1.PILToTensor(),
    ]
)
TENSOR = v1.Compose([v1.Resize((8, 8)), v1.PILToTensor()])


def numbers(loader):
    """The records of an iteration: the pictures of the tests have their number as colour."""
    return [int(number) for images, _ in loader for number in images[:, 0, 0, 0]]


@pytest.mark.parametrize(("transform", "drop_last"), [(EVALUATION, False), (EVALUATION, True), (VALUES, False)])
def test_a_script_changes_its_import_and_gets_the_same_batches(jpegs, transform, drop_last):
    dataset = ImageFolder(jpegs, transform)
    arguments = {"batch_size": 5, "shuffle": False, "num_workers": 1, "drop_last": drop_last}
    theirs, ours = data.DataLoader(dataset, **arguments), DataLoader(dataset, persistent_workers=True, **arguments)
    with_labels = list(zip(theirs, ours))
    assert len(with_labels) == len(theirs) == len(ours) == 3 - drop_last
    for (images, labels), batch in with_labels:
        assert isinstance(batch, list)
        assert (batch[0].dtype, batch[0].shape) == (images.dtype, images.shape)
        torch.testing.assert_close(batch[0], images, rtol=0, atol=1e-5)
        assert torch.equal(batch[1], labels)
        batch[0].zero_()
    assert ours.class_to_idx == dataset.class_to_idx
    assert ours.batch_size == 5
    ours.close()


def test_rule_10_an_epoch_that_was_left_early_is_abandoned_and_the_next_one_is_whole(pictures):
    loader = DataLoader(ImageFolder(pictures(20, classes=2), TENSOR), batch_size=4, shuffle=True)
    # A check before the training, as Lightning makes one, shortens no epoch.
    for number, _ in enumerate(loader):
        if number == 1:
            break
    assert loader.epoch == 0
    assert sorted(numbers(loader)) == list(range(20))
    assert next(iter(loader))[0].shape == (4, 3, 8, 8)
    assert sorted(numbers(loader)) == list(range(20))
    assert loader.epoch == 4
    audit = loader.loader.audit()
    assert [(epoch.delivered, epoch.abandoned, epoch.adds_up) for epoch in audit[:4]] == [
        (8, 12, True),
        (20, 0, True),
        (4, 16, True),
        (20, 0, True),
    ]
    loader.close()


def test_the_last_batch_may_be_where_a_loop_is_left(pictures):
    loader = DataLoader(ImageFolder(pictures(8, classes=2), TENSOR), batch_size=4)
    for number, _ in enumerate(loader):
        if number == 1:
            break
    assert numbers(loader) == list(range(8))
    assert [epoch.abandoned for epoch in loader.loader.audit()[:2]] == [0, 0]
    loader.close()


def test_an_older_iteration_is_ended_by_a_newer_one(pictures):
    loader = DataLoader(ImageFolder(pictures(8, classes=2), TENSOR), batch_size=4)
    older = iter(loader)
    next(older)
    assert len(list(loader)) == 2
    with pytest.raises(forebay.Error, match="one DataLoader for each iteration"):
        next(older)
    ended = iter(loader)
    assert len(list(ended)) == 2
    assert next(ended, None) is None
    loader.close()


def test_set_epoch_moves_an_iteration_that_has_given_nothing_and_ends_one_that_has_given_some(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    whole = DataLoader(dataset, batch_size=4, shuffle=True, seed=7)
    orders = [numbers(whole) for _ in range(3)]
    whole.close()
    later = DataLoader(dataset, batch_size=4, shuffle=True, seed=7)
    # So does Lightning when it resumes a job.
    begun = iter(later)
    later.sampler.set_epoch(2)
    assert numbers(begun) == orders[2]
    begun = iter(later)
    next(begun)
    later.sampler.set_epoch(1)
    with pytest.raises(forebay.Error, match="has ended this iteration"):
        next(begun)
    assert numbers(later) == orders[1]
    later.close()


def test_set_epoch_begins_where_a_run_without_a_state_goes_on(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    whole = DataLoader(dataset, batch_size=4, shuffle=True, seed=7)
    orders = [numbers(whole) for _ in range(4)]
    assert len({tuple(order) for order in orders}) == 4
    whole.close()
    later = DataLoader(dataset, batch_size=4, shuffle=True, seed=7)
    for epoch in (2, 3):
        later.sampler.set_epoch(epoch)
        assert later.epoch == epoch
        assert numbers(later) == orders[epoch]
    assert len(later.sampler) == 20
    later.set_epoch(1)
    assert numbers(later) == orders[1]
    with pytest.raises(ValueError, match="epoch=-1"):
        later.set_epoch(-1)
    later.close()


def test_a_state_goes_on_in_the_middle_of_its_epoch(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    arguments = {"batch_size": 4, "shuffle": True, "generator": torch.Generator().manual_seed(11)}
    first = DataLoader(dataset, **arguments)
    numbers(first)
    batches = iter(first)
    seen = [int(number) for _ in range(2) for number in next(batches)[0][:, 0, 0, 0]]
    state = json.loads(json.dumps(first.state_dict()))
    rest = [int(number) for images, _ in batches for number in images[:, 0, 0, 0]]
    first.close()
    second = DataLoader(dataset, **arguments)
    second.load_state_dict(state)
    assert second.epoch == 1
    assert numbers(second) == rest
    assert sorted(seen + rest) == list(range(20))
    assert second.epoch == 2
    assert sorted(numbers(second)) == list(range(20))
    second.close()


def test_the_seed_of_a_generator_is_the_seed(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    orders = []
    for seed in (5, 5, 6):
        loader = DataLoader(dataset, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(seed))
        orders.append(numbers(loader))
        loader.close()
    assert orders[0] == orders[1] != orders[2]


def test_collate_fn_gets_the_samples_of_the_finished_batch(pictures):
    def collate(samples):
        return {"count": len(samples), "labels": [label for _, label in samples], "first": samples[0][0]}

    loader = DataLoader(ImageFolder(pictures(8, classes=2), TENSOR), batch_size=4, collate_fn=collate)
    first, second = loader
    assert (first["count"], first["labels"], second["labels"]) == (4, [0] * 4, [1] * 4)
    assert first["first"][:, 0, 0].tolist() == [0, 100, 200]
    loader.close()
    default = DataLoader(pictures(4, name="others"), batch_size=4, size=8)
    assert default.collate_fn is data.default_collate
    default.close()


def test_a_subset_has_its_own_records(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    subset = data.Subset(data.Subset(dataset, range(5, 20)), [0, 3, 12])
    loader = DataLoader(subset, batch_size=2)
    assert [labels.tolist() for _, labels in loader] == [[0, 0], [1]]
    assert numbers(loader) == [5, 8, 17]
    loader.close()


def test_a_source_of_a_loader_takes_its_settings(pictures):
    folder = pictures(8, classes=2)
    loader = DataLoader(folder, 4, True, size=8, seed=3, dtype="float32", repeats=2)
    images, labels = next(iter(loader))
    assert (images.shape, images.dtype, labels.dtype) == ((4, 3, 8, 8), torch.float32, torch.int64)
    assert len(loader) == 4
    assert loader.class_to_idx == {"class-0": 0, "class-1": 1}
    assert "batch_size=4 batches=4" in repr(loader)
    loader.close()


def test_a_stream_keeps_what_torch_has_as_defaults(pictures, service):
    daemon = service(pictures(8, classes=2), batch_size=4, size=8, shuffle=True)
    loader = DataLoader("stream:train", socket=daemon.socket, num_workers=3)
    assert loader.batch_size == 4
    assert sorted(int(number) for images, _ in loader for number in images[:, 0, 0, 0]) == list(range(8))
    loader.close()
    with pytest.raises(forebay.SettingsError, match="batch_size"):
        DataLoader("stream:train", batch_size=3, socket=daemon.socket)
    # What is given is asked for, though torch's own DataLoader would do the same without it.
    with pytest.raises(forebay.SettingsError, match="shuffle"):
        DataLoader("stream:train", shuffle=False, socket=daemon.socket)
    with pytest.raises(forebay.SettingsError, match="shuffle"):
        DataLoader("stream:train", sampler=data.SequentialSampler(range(8)), socket=daemon.socket)


def test_ranks_read_the_shards_of_their_samplers(pictures):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    seen = []
    for rank in range(2):
        sampler = data.DistributedSampler(dataset, num_replicas=2, rank=rank, seed=9)
        loader = DataLoader(dataset, batch_size=5, sampler=sampler)
        assert len(loader) == 2
        assert loader.sampler is sampler
        sampler.set_epoch(4)
        seen += numbers(loader)
        assert loader.epoch == 5
        loader.close()
    assert sorted(seen) == list(range(20))


def test_ranks_of_the_environment_read_shards(pictures, monkeypatch):
    dataset = ImageFolder(pictures(20, classes=2), TENSOR)
    monkeypatch.setenv("WORLD_SIZE", "2")
    seen = []
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        loader = DataLoader(dataset, batch_size=5, shuffle=True)
        seen += numbers(loader)
        loader.close()
    assert sorted(seen) == list(range(20))
    everything = DataLoader(dataset, batch_size=5, sharding="dynamic")
    assert numbers(everything) == list(range(20))
    everything.close()


def test_lockstep_is_the_loaders(pictures, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    dataset = ImageFolder(pictures(8, classes=2), TENSOR)
    seen = []
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        loader = DataLoader(dataset, sharding=forebay.Lockstep(4))
        assert (len(loader), loader.batch_size) == (2, 2)
        seen += numbers(loader)
        loader.close()
    assert sorted(seen) == list(range(8))


def test_pin_memory_without_a_gpu_warns_as_torch_does(pictures, monkeypatch):
    folder = pictures(4)
    if not torch.cuda.is_available():
        with pytest.warns(UserWarning, match="no accelerator is found"):
            DataLoader(folder, batch_size=4, size=8, pin_memory=True).close()
    # With one, the batch is copied once, by PyTorch.
    pinned = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: pinned.append(tensor) or tensor.clone())
    loader = DataLoader(folder, batch_size=4, size=8, pin_memory=True)
    images, _ = next(iter(loader))
    images.zero_()
    assert [tuple(tensor.shape) for tensor in pinned] == [(4, 3, 8, 8), (4,)]
    pinned.clear()
    loader.close()
    # What `collate_fn` makes is pinned, as in torch, and not what it is given.
    Made = collections.namedtuple("Made", ["images", "further"])
    made = DataLoader(
        folder,
        batch_size=4,
        size=8,
        pin_memory=True,
        collate_fn=lambda pairs: Made(
            torch.stack([image for image, _ in pairs]), {"labels": [torch.tensor(pairs[0][1]), "word"]}
        ),
    )
    batch = next(iter(made))
    assert isinstance(batch, Made)
    assert batch.further["labels"][1] == "word"
    assert [tuple(tensor.shape) for tensor in pinned] == [(4, 3, 8, 8), ()]
    pinned.clear()
    made.close()


def test_a_timeout_is_the_longest_wait(pictures, monkeypatch):
    loader = DataLoader(pictures(4), batch_size=4, size=8, timeout=3)
    waits = []
    monkeypatch.setattr(loader._batches, "next", waits.append)
    assert list(loader) == []
    assert waits == [3]
    loader.close()


class OwnDataset(data.Dataset):
    """A dataset that reads its samples itself."""

    samples = ()

    def __getitem__(self, index):
        return torch.zeros(3, 8, 8), index

    def __len__(self):
        return 8


class OwnFolder(ImageFolder):
    """An ImageFolder that changes its samples."""

    def __getitem__(self, index):
        return super().__getitem__(index)[0], 7


def test_datasets_with_code_of_their_own_are_refused(pictures):
    folder = pictures(8, classes=2)
    for dataset in (OwnDataset(), OwnFolder(folder, TENSOR), object()):
        with pytest.raises(forebay.SettingsError, match=r"reads its samples with Python code.*ImageFolder"):
            DataLoader(dataset, batch_size=4)
    with pytest.raises(forebay.SettingsError, match="its own loader=load"):
        DataLoader(
            DatasetFolder(folder, types.FunctionType(compile("0", "", "eval"), {}, "load"), (".ppm",)), batch_size=4
        )
    with pytest.raises(forebay.SettingsError, match="target_transform"):
        DataLoader(ImageFolder(folder, TENSOR, target_transform=str), batch_size=4)
    with pytest.raises(forebay.SettingsError, match="has no transform"):
        DataLoader(ImageFolder(folder), batch_size=4)
    other = DataLoader(ImageFolder(folder), batch_size=4, size=8)
    assert next(iter(other))[0].shape == (4, 3, 8, 8)
    other.close()


@pytest.mark.parametrize(
    ("arguments", "error", "way_out"),
    [
        ({"batch_sampler": [[0]]}, forebay.SettingsError, "give batch_size, shuffle and drop_last"),
        ({"worker_init_fn": print}, forebay.SettingsError, "depend on seed, epoch and record"),
        ({"multiprocessing_context": "fork"}, forebay.SettingsError, "no worker processes"),
        ({"batch_size": None}, forebay.SettingsError, "give a number"),
        ({"num_workers": -1}, ValueError, "0 or more"),
        ({"sampler": data.WeightedRandomSampler([1.0], 1)}, forebay.SettingsError, "dict of sources with weights"),
        ({"sampler": data.RandomSampler([1], replacement=True)}, forebay.SettingsError, "give shuffle|Give shuffle"),
        ({"sampler": data.SequentialSampler([1]), "shuffle": True}, ValueError, "mutually exclusive"),
        (
            {"sampler": data.DistributedSampler([1, 2], 2, 0, drop_last=True)},
            forebay.SettingsError,
            "shards are padded",
        ),
    ],
)
def test_arguments_that_cannot_be_honoured_are_refused_with_the_way_out(pictures, arguments, error, way_out):
    with pytest.raises(error, match=way_out):
        DataLoader(pictures(4), **{"batch_size": 2, "size": 8, **arguments})


def test_losses_are_those_of_torchs_loader(jpegs):
    dataset = ImageFolder(jpegs, EVALUATION)
    losses = []
    for kind in (data.DataLoader, DataLoader):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        loader, found = kind(dataset, batch_size=4), []
        for _ in range(6):
            for images, labels in loader:
                loss = torch.nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                found.append(loss.item())
        losses.append(found)
    loader.close()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-3)
    assert losses[1][-1] < losses[1][0]


@pytest.mark.filterwarnings("error")
def test_accelerate_takes_it_as_it_is_and_without_a_warning(pictures):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed; `make test-torch` installs it")
    accelerator = accelerate.Accelerator(cpu=True)
    model = torch.nn.Linear(3, 2)
    loader = DataLoader(pictures(8, classes=2), batch_size=4, size=8)
    model, optimizer, prepared = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), loader)
    assert prepared is loader
    labels = []
    for images, targets in prepared:
        loss = torch.nn.functional.cross_entropy(model(images.to(accelerator.device).float().mean((2, 3))), targets)
        accelerator.backward(loss)
        optimizer.step()
        labels += targets.tolist()
    assert sorted(labels) == [0] * 4 + [1] * 4
    loader.close()
