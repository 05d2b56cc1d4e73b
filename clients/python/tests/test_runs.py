"""Named runs that are opened again and rewound, within one process and its daemon."""

import forebay
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    """Named runs are kept here, whoever runs the tests: root has another folder than users."""
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))


def own(batch):
    return batch.records[batch.mask].tolist()


def records(loader):
    return [record for batch in loader for record in batch.records.tolist()]


def test_rule_01_a_named_run_goes_on_where_the_loader_before_left_it(pictures):
    folder = pictures(12)
    with forebay.Loader(pictures(3, name="other"), batch_size=1, size=8) as _keeps_the_daemon:
        first = forebay.Loader(folder, batch_size=4, size=8, run="r", epochs=1)
        seen = first.next().records.tolist()
        first.next()
        first.close()  # the second batch was in hand: it comes again
        for _ in range(3):
            with forebay.Loader(folder, batch_size=4, size=8, run="r", epochs=1) as again:
                seen += again.next().records.tolist()
                again.next()
            if len(seen) >= 12:
                break
        with forebay.Loader(folder, batch_size=4, size=8, run="r", epochs=1) as last:
            seen += records(last)
            assert last.audit()[0].adds_up
    assert sorted(set(seen)) == list(range(12))


def test_rule_01_runs_of_other_names_are_runs_of_their_own(pictures):
    folder = pictures(6)
    with forebay.Loader(folder, batch_size=6, size=8, run="one", epochs=1) as one:  # noqa: SIM117 - Python 3.9
        with forebay.Loader(folder, batch_size=3, size=8, run="two", epochs=1) as two:
            assert records(one) == records(two) == list(range(6))


def test_rule_23_a_loader_may_go_back_to_the_same_state_twice(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        loader.next()
        state = loader.state_dict()
        for _ in range(3):
            assert sorted(records(loader)) == list(range(4, 12))
            loader.load_state_dict(state)


def test_rule_13_ranks_have_equal_numbers_of_batches_from_every_checkpoint(pictures):
    folder = pictures(20)
    ranks = [
        forebay.Loader(folder, batch_size=3, size=8, epochs=3, sharding=forebay.Shard(rank, 3), run=f"rank-{rank}")
        for rank in range(3)
    ]
    starts = [rank.state_dict() for rank in ranks]
    for stop in range(1, 7):
        told = []
        for rank, start in zip(ranks, starts):
            rank.load_state_dict(start)
            seen = []
            while len(seen) < stop:
                batch = rank.next()
                if batch is not None:
                    seen.append((batch.epoch, own(batch)))
            rank.load_state_dict(rank.state_dict())
            for _ in range(4):
                seen += [(batch.epoch, own(batch)) for batch in rank]
            told.append(seen)
        for epoch in range(3):
            assert [sum(e == epoch for e, _ in seen) for seen in told] == [3, 3, 3], f"epoch {epoch}, stop {stop}"
            assert sorted(r for seen in told for e, own in seen if e == epoch for r in own) == list(range(20))
    for rank in ranks:
        rank.close()


def test_rule_10_ranks_that_reset_with_a_batch_of_copies_to_come_stay_in_step(pictures):
    folder = pictures(20)
    for rank in range(3):
        with forebay.Loader(folder, batch_size=3, size=8, epochs=5, sharding=forebay.Shard(rank, 3)) as loader:
            loader.next()
            loader.next()
            loader.reset()
            assert loader.next().epoch == 1
            first = loader.audit()[0]
            assert (first.delivered, first.abandoned) == (6, 0 if rank == 0 else 1)
