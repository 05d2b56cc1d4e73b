"""How many batches and records each rank has, beside torch's DataLoader with a DistributedSampler."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader  # noqa: E402 - it imports PyTorch
from torch.utils import data  # noqa: E402 - after it was looked whether it is there

pytestmark = [pytest.mark.daemon, pytest.mark.originals, pytest.mark.usefixtures("binary")]

# Records, ranks and batch size: whole steps, a step that is not full, and one that has records for some ranks alone.
JOBS = [(24, 2, 4), (25, 2, 4), (31, 3, 4), (50, 4, 3), (17, 4, 4), (7, 3, 2), (9, 8, 1)]


@pytest.mark.parametrize(("records", "ranks", "batch"), JOBS)
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("is_explicit", [False, True])
def test_ranks_have_as_many_batches_of_the_same_sizes_as_with_torch(
    pictures, monkeypatch, records, ranks, batch, drop_last, is_explicit
):
    folder = pictures(records)
    dataset = data.TensorDataset(torch.arange(records))
    monkeypatch.setenv("WORLD_SIZE", str(ranks))
    seen = [[], []]
    # torch's sampler may complete a last batch with copies. With drop_last, ours is left out all the same.
    by_copies = -(-records // ranks) // batch - records // (ranks * batch) if drop_last else 0
    for rank in range(ranks):
        sampler = data.DistributedSampler(dataset, ranks, rank, shuffle=True, seed=4)
        theirs = data.DataLoader(dataset, batch, sampler=sampler, drop_last=drop_last)
        monkeypatch.setenv("RANK", str(rank))
        given = {"sampler": sampler} if is_explicit else {"shuffle": True, "seed": 4}
        ours = DataLoader(folder, batch, drop_last=drop_last, size=8, **given)
        assert (len(ours), ours.batch_size) == (len(theirs) - by_copies, batch)
        for epoch in range(2):
            sampler.set_epoch(epoch)
            batches = [[int(number) for number in images[:, 0, 0, 0]] for images, _ in ours]
            expected = [len(each) for (each,) in theirs][: len(theirs) - by_copies]
            assert [len(each) for each in batches] == expected, f"rank {rank}"
            seen[epoch] += [number for each in batches for number in each]
        ours.close()
    # torch repeats records from the order's beginning, and we the last ones: as many in all.
    for found in seen:
        if drop_last:
            assert len(set(found)) == len(found) == records // (ranks * batch) * ranks * batch
        else:
            assert set(found) == set(range(records))
            assert len(found) == -(-records // ranks) * ranks
