"""The seed of a DataLoader is PyTorch's, and that of all ranks. Skipped if PyTorch is not installed."""

import json
import logging

import forebay
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader, seed  # noqa: E402 - it imports PyTorch
from torch.utils import data  # noqa: E402 - after it was looked whether it is there

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

TRAINING = {"batch_size": 5, "size": 8, "shuffle": True}


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    """As in a process that has told no seed yet; PyTorch has its own seed again afterwards."""
    monkeypatch.setattr(seed, "_told", set())
    before = torch.get_rng_state()
    yield
    torch.set_rng_state(before)


def order(source, **settings):
    """The records of an epoch, by their colours, and the seed."""
    loader = DataLoader(source, **{**TRAINING, **settings})
    found = [int(number) for images, _ in loader for number in images[:, 0, 0, 0]]
    own = loader.seed
    loader.close()
    return found, own


def test_the_order_follows_manual_seed_and_the_callers_seed_comes_first(pictures):
    folder = pictures(20)
    orders = {}
    for number in (1, 2, 3, 1):
        torch.manual_seed(number)
        found, own = order(folder)
        assert own == number
        assert orders.setdefault(number, found) == found, "one seed, one order"
    assert len({tuple(found) for found in orders.values()}) == 3
    torch.manual_seed(7)
    assert order(folder, seed=2) == (orders[2], 2)
    generator = torch.Generator()
    generator.manual_seed(3)
    assert order(folder, generator=generator) == (orders[3], 3)
    sampler = data.RandomSampler(range(20), generator=generator)
    assert order(folder, shuffle=None, sampler=sampler) == (orders[3], 3)
    # A generator's seed is that of its beginning, as PyTorch's own is.
    torch.manual_seed(1)
    torch.rand(5)
    assert order(folder)[0] == orders[1]


def test_rule_8_the_bits_for_the_trainer_follow_manual_seed_and_are_those_of_a_loader(pictures):
    folder, found = pictures(10), {}
    for number in (1, 2, 1):
        torch.manual_seed(number)
        settings = {"batch_size": 5, "size": 8, "targets": forebay.Targets(draw=True)}
        loader = DataLoader(folder, **settings)
        drawn = torch.cat([bits for _, _, bits in loader])
        loader.close()
        assert drawn.dtype == torch.int64
        with forebay.Loader(folder, seed=number, epochs=1, **settings) as plain:
            assert drawn.tolist() == [bits for batch in plain for bits in batch.draw.view("int64").tolist()]
        assert found.setdefault(number, drawn.tolist()) == drawn.tolist()
    assert found[1] != found[2]


def test_what_has_no_choice_or_another_decision_keeps_the_default(pictures, monkeypatch):
    folder = pictures(8)
    torch.manual_seed(9)
    evaluation = {"shuffle": False, "size": None, "transform": [forebay.transforms.Resize((8, 8))]}
    assert order(folder, **evaluation)[1] == 0
    assert order(folder, shuffle=False, size=None, recipe="torchvision_train")[1] == 9
    assert order(folder, shuffle=False, size=None, recipe={"name": "torchvision_eval", "size": 8})[1] == 0
    sampler = data.DistributedSampler(range(8), num_replicas=1, rank=0, seed=4)
    assert order(folder, shuffle=None, sampler=sampler)[1] == 4
    # Ranks that know no process group cannot agree on another one.
    assert order(folder, sharding=forebay.Shard(1, 2))[1] == 0
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert order(folder)[1] == 0
    assert order(folder, sharding="dynamic")[1] == 9
    monkeypatch.undo()
    assert seed.seed_of_torch({"run": "mine"}) is None


def test_a_dataloader_that_loads_a_state_says_the_state_s_seed_and_not_the_one_that_it_began_with(pictures, caplog):
    folder = pictures(9)
    caplog.set_level(logging.INFO, "forebay")
    torch.manual_seed(21)
    first = DataLoader(folder, **TRAINING)
    state = first.state_dict()
    first.close()
    torch.manual_seed(22)
    second = DataLoader(folder, **TRAINING)
    second.load_state_dict(state)
    assert second.seed == 21
    list(second)
    second.close()
    told = [record.getMessage() for record in caplog.records if "have the seed" in record.getMessage()]
    assert told == ["the order and the random transforms have the seed 21, of the state; seed=21 repeats them"]


def test_a_seed_is_told_once_in_the_log_or_on_stderr(pictures, caplog, capsys):
    folder = pictures(4)
    torch.manual_seed(11)
    caplog.set_level(logging.INFO, "forebay")
    order(folder)
    order(folder)
    told = [record.getMessage() for record in caplog.records if "the seed 11" in record.getMessage()]
    assert len(told) == 1
    assert "torch.initial_seed(); seed=11 repeats them" in told[0]
    caplog.set_level(logging.WARNING, "forebay")
    torch.manual_seed(12)
    order(folder)
    order(folder, seed=13)
    assert [line for line in capsys.readouterr().err.splitlines() if "have the seed" in line] == [
        "forebay: the order and the random transforms have the seed 12, of torch.initial_seed(); seed=12 repeats them"
    ]


def test_a_state_brings_its_seed_unless_the_caller_has_given_one(pictures):
    folder = pictures(20)
    torch.manual_seed(1)
    first = DataLoader(folder, **TRAINING)
    whole = [images[:, 0, 0, 0].tolist() for images, _ in first]
    first.close()
    half = DataLoader(folder, **TRAINING)
    next(iter(half))
    state = half.state_dict()
    half.close()
    torch.manual_seed(2)
    later = DataLoader(folder, **TRAINING)
    assert later.seed == 2
    later.load_state_dict(state)
    assert later.seed == 1
    assert [images[:, 0, 0, 0].tolist() for images, _ in later] == whole[1:]
    later.close()
    fixed = DataLoader(folder, seed=2, **TRAINING)
    with pytest.raises(forebay.Error, match="seed"):
        fixed.load_state_dict(state)
    fixed.close()
    # States of earlier versions have no seed, and were of seed 0.
    old = DataLoader(folder, seed=0, **TRAINING)
    next(iter(old))
    earlier = {key: value for key, value in old.state_dict().items() if key != "seed"}
    old.close()
    later = DataLoader(folder, **TRAINING)
    later.load_state_dict(earlier)
    assert later.seed == 0
    later.close()


RANK = """
import torch
torch.distributed.init_process_group("gloo", init_method="file://" + store, rank=int(rank), world_size=2)
import logging
logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stdout)
from forebay.torch import DataLoader
torch.manual_seed(50 + int(rank))
train = DataLoader(folder, batch_size=5, size=8, shuffle=True)
# The ranks need not read at the same time.
if rank == "1":
    torch.distributed.barrier()
records = [int(number) for images, _ in train for number in images[:, 0, 0, 0]]
print(json.dumps([train.seed, records]), flush=True)
if rank == "0":
    torch.distributed.barrier()
torch.distributed.barrier()
evaluation = DataLoader(folder, batch_size=5, transform=forebay.transforms.Resize((8, 8)))
if rank == "0" or who == "all":
    print(sum(len(labels) for _, labels in evaluation), flush=True)
if then == "training":
    # It is known as soon as all ranks have begun what comes behind the evaluation.
    again = iter(train)
    torch.distributed.barrier()
    list(again)
print("over", flush=True)
torch.distributed.barrier()
"""


def read_by_two(pictures, trainer, tmp_path, **names):
    names |= {"store": tmp_path / "store", "folder": pictures(20)}
    ranks = [trainer(RANK, rank=rank, **names) for rank in range(2)]
    lines = [process.stdout.read().splitlines() for process in ranks]
    (first, first_records), (second, second_records) = (json.loads(each[0]) for each in lines)
    assert first == second == 50, "each rank has set a seed of its own"
    assert sorted(first_records + second_records) == list(range(20))
    return [each[1:] for each in lines]


@pytest.mark.parametrize("then", ["end", "training"])
def test_ranks_have_the_seed_of_rank_0_and_one_that_reads_alone_is_warned(pictures, trainer, tmp_path, then):
    first, second = read_by_two(pictures, trainer, tmp_path, who="rank 0", then=then)
    assert second == ["over"], "rank 1 has not read it, and training was no case of one rank alone"
    (warning,) = [line for line in first if line not in ("10", "over")]
    assert [line for line in first if line != warning] == ["10", "over"]
    assert "rank 0 alone has read a DataLoader to its end" in warning
    assert "10 of 20 records" in warning
    assert 'sharding="dynamic"' in warning


@pytest.mark.parametrize("then", ["end", "training"])
def test_a_rank_that_is_slower_than_another_one_is_not_taken_for_one_that_does_not_read(
    pictures, trainer, tmp_path, then
):
    assert read_by_two(pictures, trainer, tmp_path, who="all", then=then) == [["10", "over"], ["10", "over"]]
