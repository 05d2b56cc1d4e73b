"""Runs of streams with buckets: ranks, states, kills and bad records (semantics rules 16, 61 and 62)."""

import json
import os
import random
import signal
import subprocess
from contextlib import ExitStack
from itertools import chain

import forebay
import pytest
from forebay import RecordError, SettingsError
from processes import private_daemons
from sized import BUCKETS, RECORDS, check, own

pytestmark = pytest.mark.daemon


def job(stack, sized, world_size, **settings):
    settings = {"batch_size": None, "shuffle": True, "epochs": 2, **settings}
    ranks = [sized.loader(sharding=forebay.Lockstep(8, rank, world_size), **settings) for rank in range(world_size)]
    return [stack.enter_context(rank) for rank in ranks]


def steps_of(ranks):
    """The own records of each step in the order of ranks, and its shape."""
    batches = [[(own(batch), batch.images.shape, batch.planned[0]) for batch in rank] for rank in ranks]
    assert len({len(rank) for rank in batches}) == 1, "all ranks have as many steps"
    for step in zip(*batches):
        assert len({(shape, planned) for _, shape, planned in step}) == 1, "all ranks have pictures of one shape"
    return [(list(chain(*(records for records, _, _ in step))), step[0][1][1:3]) for step in zip(*batches)]


def test_rule_62_ranks_share_steps_of_one_bucket_and_a_state_of_any_step_goes_to_another_number_of_them(sized):
    sized = sized()
    with ExitStack() as stack:
        alone = job(stack, sized, 1)
        whole = [steps_of(alone), steps_of(alone)]
    for epoch in whole:
        assert sorted(chain(*(records for records, _ in epoch))) == list(range(RECORDS))
    drawn = random.Random(7)
    for before, after in ((1, 4), (2, 1), (4, 2)):
        at = drawn.randrange(1, len(whole[0]))
        with ExitStack() as stack:
            ranks = job(stack, sized, before)
            assert len(ranks[0]) == len(whole[0])
            for records, shape in whole[0][:at]:
                told = [rank.next() for rank in ranks]
                assert list(chain(*map(own, told))) == records
                assert {batch.images.shape for batch in told} == {(8 // before, *shape, 3)}
            states = [json.dumps(rank.state_dict()) for rank in ranks]
        assert len(set(states)) == 1, "states of ranks are equal"
        with ExitStack() as stack:
            ranks = job(stack, sized, after)
            for rank in ranks:
                rank.load_state_dict(json.loads(states[0]))
            assert steps_of(ranks) == whole[0][at:]
            assert steps_of(ranks) == whole[1]


@pytest.fixture
def planned(binary):
    """What `forebay plan` says of steps of 8 pictures."""

    def plan(sized, *more):
        command = [binary, "plan", sized.folder, "--index", sized.index, "--buckets", ",".join(BUCKETS), "--json"]
        said = subprocess.run([*command, "--batch-size", "8", *more], check=True, capture_output=True).stdout
        return json.loads(said)

    return plan


def test_rule_62_steps_whose_gradients_are_accumulated_have_one_bucket_at_any_number_of_ranks(sized, planned):
    sized = sized(100)
    settings = {"buckets": {"rule": BUCKETS, "accumulate": 3}}
    with ExitStack() as stack:
        alone = job(stack, sized, 1, **settings)
        expected = len(alone[0])
        whole = [steps_of(alone), steps_of(alone)]
        assert alone[0].audit()[0].complete
    plan = planned(sized, "--accumulate", "3")
    assert plan["steps"] == expected == 13
    for epoch in whole:
        assert sorted(chain(*(records for records, _ in epoch))) == list(range(100))
        # The last group has one step, which has the copies.
        groups = [{shape for _, shape in epoch[first : first + 3]} for first in range(0, expected, 3)]
        assert [len(group) for group in groups] == [1] * 5
        assert len(set.union(*groups)) == 3
        assert [8 - len(records) for records, _ in epoch] == [0] * 12 + [plan["copies"]]
    assert whole[0] != whole[1]
    # States inside a group, between two, and before the shorter one.
    for before, after, at in ((1, 4, 4), (4, 2, 6), (2, 1, 12)):
        with ExitStack() as stack:
            ranks = job(stack, sized, before, **settings)
            for records, _ in whole[0][:at]:
                assert list(chain(*(own(rank.next()) for rank in ranks))) == records
            state = json.dumps(ranks[0].state_dict())
        with ExitStack() as stack:
            ranks = job(stack, sized, after, **settings)
            for rank in ranks:
                rank.load_state_dict(json.loads(state))
            assert steps_of(ranks) == whole[0][at:]
            assert steps_of(ranks) == whole[1]
    with ExitStack() as stack:
        (rank,) = job(stack, sized, 1, buckets=BUCKETS)
        with pytest.raises(forebay.Error, match="accumulate was 3 and is now 1"):
            rank.load_state_dict(json.loads(state))


@pytest.mark.parametrize("accumulate", [2, 3, 5])
def test_rule_62_pictures_that_fill_no_group_of_steps_are_dropped_as_the_plan_says(sized, planned, accumulate):
    sized = sized(100)
    plan = planned(sized, "--accumulate", str(accumulate), "--leftovers", "drop")
    settings = {"buckets": {"rule": BUCKETS, "accumulate": accumulate, "leftovers": "drop"}, "shuffle": True}
    with sized.loader(batch_size=8, **settings) as loader:
        assert len(loader) == plan["steps"]
        steps = [(own(batch), batch.images.shape[1:3]) for batch in loader]
        assert len(steps) == plan["steps"]
        audit = loader.audit()[0]
    shapes = [shape for _, shape in steps]
    assert all(shapes[at] == shapes[at - at % accumulate] for at in range(len(shapes)))
    assert {len(records) for records, _ in steps} == {8}
    assert len(set(chain(*(records for records, _ in steps)))) == 8 * len(steps) < 100
    assert audit.adds_up
    assert audit.dropped == plan["dropped"] == 100 - 8 * len(steps)
    with pytest.raises(SettingsError, match="accumulate: cannot be combined with leftovers"):
        sized.loader(buckets={**settings["buckets"], "leftovers": "repeat"})


def test_rule_62_a_number_of_ranks_that_does_not_divide_a_step_is_refused_with_those_that_do(sized):
    sized = sized()
    with pytest.raises(SettingsError, match="World sizes that fit: 1, 2, 4, 8"):
        sized.loader(sharding=forebay.Lockstep(8, 0, 3), batch_size=None)
    buckets = {"rule": ["12x18", "8x8"], "pixels": 1300, "divisor": 2}
    with pytest.raises(SettingsError, match="does not divide the places of each class's steps, which are 6, 20"):
        sized.loader(buckets=buckets, sharding=forebay.Lockstep(None, 0, 4), batch_size=None)


def test_rule_62_bad_records_keep_their_places_and_a_picture_of_another_size_than_the_index_says_is_bad(sized):
    sized = sized()
    for bad in ((0,), (RECORDS // 2,), (RECORDS - 1,), (0, RECORDS // 2, RECORDS - 1)):
        kept = {number: sized.file(number).read_bytes() for number in bad}
        for number in bad:
            sized.replace(number, b"no picture".ljust(len(kept[number]), b"."))
        with sized.loader(on_error="replace", run=f"bad-{len(bad)}-{bad[0]}") as loader:
            steps = list(map(own_and_all, loader))
            assert len(steps) == len(loader)
            assert sorted(chain(*(records for records, _ in steps))) == sorted(set(range(RECORDS)) - set(bad))
            audit = loader.audit()[0]
            assert audit.adds_up
            assert audit.quarantined == len(bad)
        for number, content in kept.items():
            sized.replace(number, content)
    # The file is as long as before, so the index fits.
    liar = 4
    height, width = sized.sizes[liar]
    sized.write(liar, (width, height))
    with sized.loader(on_error="skip", run="liar") as loader:
        assert sorted(chain(*map(own, loader))) == sorted(set(range(RECORDS)) - {liar})
        assert loader.audit()[0].adds_up
        (found,) = loader.quarantine
        assert f"is {width} x {height} and not {height} x {width}" in found.reason
    with pytest.raises(RecordError, match="and not"), sized.loader(run="strict") as loader:
        list(loader)


def test_rule_62_a_step_without_a_good_record_is_black_and_ranks_keep_their_shapes(sized):
    sized = sized()
    # Buckets that a list has for these sizes, without neighbours.
    bad = [number for number, size in enumerate(sized.sizes) if size[0] > size[1] + 2]
    for number in bad:
        sized.replace(number, b"no picture".ljust(sized.file(number).stat().st_size, b"."))
    buckets = {"rule": BUCKETS, "leftovers": "repeat"}
    with ExitStack() as stack:
        ranks = job(stack, sized, 2, buckets=buckets, epochs=1, on_error="replace")
        batches = [[batch.copy() for batch in rank] for rank in ranks]
        assert len(batches[0]) == len(batches[1]) == len(ranks[0])
        black = 0
        for step in zip(*batches):
            assert len({batch.images.shape for batch in step}) == 1
            if step[0].images.shape[1:3] == (18, 12):
                black += 1
                for batch in step:
                    assert not batch.images.any()
                    assert not batch.mask.any()
                    assert (batch.records == -1).all()
                    assert (batch.planned > 0).all()
        assert black == -(-len(bad) // 8)
        good = sorted(chain(*(own(batch) for step in zip(*batches) for batch in step)))
        assert good == sorted(set(range(RECORDS)) - set(bad))
        audits = [rank.audit()[0] for rank in ranks]
        assert sum(audit.quarantined for audit in audits) == len(bad)
        assert sum(audit.delivered for audit in audits) == RECORDS - len(bad)


def own_and_all(batch):
    assert (batch.planned >= len(own(batch))).all()
    return own(batch), batch.records.tolist()


def test_rule_16_daemon_and_trainers_are_killed_and_every_record_still_comes_once(service, sized, trainer):
    sized = sized()
    settings = {"index": str(sized.index), "buckets": BUCKETS, "batch_size": 4, "epochs": 2, "shuffle": True}
    daemon = service(sized.folder, **settings)
    dying = trainer(
        """
        loader = forebay.Loader("train", socket=socket)
        print(loader.next().records.tolist())
        print(loader.next().records.tolist())
        time.sleep(600)
        """,
        socket=daemon.socket,
    )
    acked, held = (set(json.loads(dying.stdout.readline())) for _ in range(2))
    with forebay.Loader("train", socket=daemon.socket) as loader:
        seen, shapes = [own(loader.next()), own(loader.next())], set()
        dying.kill()
        dying.wait()
        daemon.kill()
        daemon.start()
        for batch in loader:
            check(sized, batch)
            seen.append(own(batch))
            shapes.add(batch.images.shape[1:3])
        whole = sorted(chain(*seen))
        # The daemon may have told the ledger of the other trainer's first step before it died, or not.
        assert len(whole) == len(set(whole))
        assert set(whole) | acked == set(range(RECORDS))
        assert held <= set(whole)
        assert len(shapes) == 3
        assert loader.audit()[0].adds_up
        assert sorted(chain(*map(own, loader))) == list(range(RECORDS))
        assert loader.audit()[1].adds_up


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_rule_16_ranks_have_the_same_steps_though_their_daemons_are_killed(sized, world_size):
    sized = sized()
    with ExitStack() as stack:
        whole = steps_of(job(stack, sized, 1))
    drawn, seen = random.Random(world_size), []
    with ExitStack() as stack:
        ranks = job(stack, sized, world_size)
        for number in range(len(whole)):
            if number in (1, 4):
                os.kill(drawn.choice(private_daemons()), signal.SIGKILL)
            step = [rank.next() for rank in ranks]
            assert len({batch.images.shape for batch in step}) == 1
            seen.append((list(chain(*map(own, step))), step[0].images.shape[1:3]))
        assert seen == whole
        assert [rank.next() for rank in ranks] == [None] * world_size
        assert sum(rank.audit()[0].delivered for rank in ranks) == RECORDS
        assert all(rank.audit()[0].complete for rank in ranks)
