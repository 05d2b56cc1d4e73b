"""The sampler whose ranks may change in number."""

import json
from itertools import chain

import pytest
from forebay import SettingsError
from forebay.sharding import ElasticDistributedSampler


def ranks(records, world, **arguments):
    """A sampler for each rank."""
    return [ElasticDistributedSampler(range(records), world, rank, **arguments) for rank in range(world)]


def dealt(samplers):
    """The rounds of an epoch, over all ranks."""
    return list(chain(*zip(*(list(sampler) for sampler in samplers))))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_the_ranks_share_each_epoch_and_have_equally_many(shuffle, world):
    samplers = ranks(3000, world, shuffle=shuffle, seed=5)
    order = dealt(samplers)
    assert {len(sampler) for sampler in samplers} == {-(-3000 // world)}
    assert sorted(order[:3000]) == list(range(3000))
    assert set(order[3000:]) <= {order[2999]}, "the last round repeats the last record"
    assert (order[:3000] == list(range(3000))) != shuffle
    left_out = dealt(ranks(3000, world, shuffle=shuffle, seed=5, drop_last=True))
    assert left_out == order[: 3000 // world * world]


def test_each_epoch_and_seed_has_an_order_of_its_own_which_does_not_depend_on_the_ranks():
    one, three = ranks(90, 1, seed=1), ranks(90, 3, seed=1)
    first = dealt(one)
    assert first == dealt(three) != dealt(ranks(90, 1, seed=2))
    for sampler in (*one, *three):
        sampler.set_epoch(1)
    assert first != dealt(one) == dealt(three)


@pytest.mark.parametrize(("before", "after"), [(4, 2), (2, 3), (1, 8), (3, 1)])
def test_another_number_of_ranks_goes_on_from_one_number_without_a_gap_or_a_repetition(before, after):
    records, batch, steps = 101, 2, 5
    whole = dealt(ranks(records, 1, seed=9))
    samplers = ranks(records, before, seed=9)
    done = list(chain(*zip(*(list(sampler)[: batch * steps] for sampler in samplers))))
    state = json.loads(json.dumps(samplers[0].state_dict(steps, batch)))
    assert state == {"consumed": before * batch * steps}
    resumed = ranks(records, after, seed=9)
    for sampler in resumed:
        sampler.load_state_dict(state)
        sampler.set_epoch(0)
    assert {len(sampler) for sampler in resumed} == {-(-(records - len(done)) // after)}
    assert (done + dealt(resumed))[:records] == whole
    # In the middle of what was resumed, the count goes on from where it began.
    again = resumed[0].state_dict(1, batch)
    assert again == {"consumed": len(done) + after * batch}
    for sampler in resumed:
        sampler.set_epoch(1)
    assert len(dealt(resumed)) >= records


def test_a_state_at_the_end_of_an_epoch_begins_the_next_one():
    (sampler,) = ranks(10, 1)
    sampler.set_epoch(2)
    state = sampler.state_dict(4, 3)
    assert state == {"consumed": 30}
    (resumed,) = ranks(10, 1)
    resumed.load_state_dict(state)
    assert (resumed.epoch, len(resumed)) == (3, 10)


def test_wrong_ranks_and_states_are_refused():
    for world, rank in ((0, 0), (2, 2), (2, -1)):
        with pytest.raises(SettingsError, match="rank="):
            ElasticDistributedSampler(range(5), world, rank)
    with pytest.raises(SettingsError, match="no records"):
        ElasticDistributedSampler([])
    for state in ({}, {"consumed": -1}, {"consumed": "7"}):
        with pytest.raises(SettingsError, match="no state"):
            ElasticDistributedSampler(range(5), 1, 0).load_state_dict(state)
