"""Shards in PyTorch's DataLoader, against a real coordinator."""

import pytest
from coordinators import complete
from forebay import SettingsError
from forebay.sharding import ElasticDistributedSampler, ShardingClient

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")

from forebay.sharding.torch import ShardDataset, ShardSampler  # noqa: E402 - needs PyTorch


def make(coordinator, **arguments):
    given = {"batch_size": 4, "num_epochs": 2, "dataset_size": 26, "num_minibatches_per_shard": 2}
    return ShardingClient("mnist", coordinator=coordinator.address, **{**given, **arguments})


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sampler_of_shards_counts_exactly_what_was_trained_on(coordinator, workers):
    with make(coordinator, shuffle=True, storage_type="text") as client:
        loader = torch.utils.data.DataLoader(
            list(range(100, 126)), batch_size=4, sampler=ShardSampler(client), num_workers=workers
        )
        found = []
        for batch in loader:
            found += batch.tolist()
            client.report_batch_done(len(batch))
    assert sorted(found[:26]) == sorted(found[26:]) == list(range(100, 126))
    assert complete(coordinator.audit(), 26)


def test_a_dataset_of_shards_is_read_by_a_function_of_the_user(coordinator):
    def read(shard):
        return ({"record": record, "name": shard.name} for record in range(shard.start, shard.end))

    with make(coordinator) as client:
        loader = torch.utils.data.DataLoader(ShardDataset(client, read), batch_size=4)
        found = []
        for batch in loader:
            found += batch["record"].tolist()
            client.report_batch_done(len(batch["record"]))
    assert sorted(found) == sorted([*range(26), *range(26)])
    assert complete(coordinator.audit(), 26)


def test_a_dataset_of_shards_takes_no_workers_and_says_what_does(coordinator):
    with make(coordinator) as client:
        loader = torch.utils.data.DataLoader(ShardDataset(client, list), num_workers=1)
        with pytest.raises(SettingsError, match="ShardSampler"):
            next(iter(loader))


def test_a_sampler_of_ranks_feeds_a_loader():
    sampler = ElasticDistributedSampler(range(10), 2, 1, shuffle=False)
    loader = torch.utils.data.DataLoader(list(range(10)), batch_size=5, sampler=sampler)
    assert [batch.tolist() for batch in loader] == [[1, 3, 5, 7, 9]]
