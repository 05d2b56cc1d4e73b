"""Runs of pictures of different sizes, stopped at random, go on at other numbers of ranks (semantics rules 16, 40, 62).

Records are bad, and daemons are killed. Every record comes once an epoch, all ranks have equal steps and shapes, and
the audit adds up. `FOREBAY_STOP_POINTS` is the number of stops of each form, and `FOREBAY_STOP_SEED` the random seed.
"""

import json
import os
import random
import signal
from contextlib import ExitStack
from itertools import chain

import forebay
import pytest
from patched import LENGTHS, SIDE, spoil
from processes import private_daemons
from sized import BUCKETS, own

pytestmark = pytest.mark.daemon

POINTS = int(os.environ.get("FOREBAY_STOP_POINTS", "3"))
SEED = int(os.environ.get("FOREBAY_STOP_SEED", "1"))
# Places of a step, and the numbers of ranks that divide them: all from 1 to 8.
WORLDS = {24: [1, 2, 3, 4, 6, 8], 35: [1, 5, 7]}
RECORDS = 150


FORMS = {
    "buckets": {"buckets": BUCKETS},
    "patches": {"buckets": None, "patches": {"rule": "naflex", "patch": SIDE, "seq_lens": LENGTHS}},
}


def start(stack, sized, name, places, world_size):
    settings = {"shuffle": True, "seed": SEED, "epochs": 2, "on_error": "skip", "batch_size": None, **FORMS[name]}
    shards = (forebay.Lockstep(places, rank, world_size) for rank in range(world_size))
    return [stack.enter_context(sized.loader(sharding=shard, **settings)) for shard in shards]


def step_of(batches):
    """The own records of a step in the order of ranks, what all ranks say of it, and the shape of its pictures."""
    (told,) = {(batch.images.shape, int(batch.planned[0])) for batch in batches}
    return list(chain(*map(own, batches))), told[1], told[0][1:]


def epoch_of(ranks):
    steps = []
    while True:
        batches = [rank.next() for rank in ranks]
        if None in batches:
            assert batches == [None] * len(ranks), "all ranks have as many steps"
            return steps
        steps.append(step_of(batches))


def audited(ranks, epoch, good, bad):
    """The ledgers of all ranks together have each record of the epoch once."""
    audits = [each for rank in ranks for each in rank.audit() if each.epoch == epoch]
    assert len(audits) == len(ranks)
    assert all(audit.complete and audit.adds_up is not False for audit in audits), audits
    assert (sum(audit.delivered for audit in audits), sum(audit.quarantined for audit in audits)) == (good, bad)


@pytest.mark.parametrize("name", ["buckets", "patches"])
def test_a_run_that_is_stopped_anywhere_goes_on_with_the_same_steps(sized, name):
    sized, drawn = sized(RECORDS), random.Random(f"{SEED} {name}")
    reference = {}
    bad = {0, RECORDS // 2, RECORDS - 1}
    for places in WORLDS:
        with ExitStack() as stack:
            ranks = start(stack, sized, name, places, 1)
            first = epoch_of(ranks)
            if places == 24:
                # All of a step, the third, is bad too.
                bad |= set(first[2][0])
    for number in bad:
        spoil(sized, number)
    for places in WORLDS:
        with ExitStack() as stack:
            ranks = start(stack, sized, name, places, 1)
            reference[places] = [epoch_of(ranks) for _ in range(2)]
            for epoch, steps in enumerate(reference[places]):
                assert sorted(chain(*(records for records, *_ in steps))) == sorted(set(range(RECORDS)) - bad)
                audited(ranks, epoch, RECORDS - len(bad), len(bad))
    for point in range(POINTS):
        places = drawn.choice([24, 24, 35])
        whole = reference[places]
        before, after = (drawn.choice(WORLDS[places]) for _ in range(2))
        epoch, kills = drawn.randrange(2), drawn.random() < 0.5
        at = drawn.randrange(len(whole[epoch]) + 1)
        where = f"point {point}: {places} places, {before} ranks, then {after}, epoch {epoch}, step {at}, kills {kills}"
        with ExitStack() as stack:
            ranks = start(stack, sized, name, places, before)
            if epoch:
                assert epoch_of(ranks) == whole[0], where
            killed = drawn.randrange(at + 1) if kills else None
            for number in range(at):
                if number == killed:
                    os.kill(drawn.choice(private_daemons()), signal.SIGKILL)
                assert step_of([rank.next() for rank in ranks]) == whole[epoch][number], where
            states = {json.dumps(rank.state_dict()) for rank in ranks}
        assert len(states) == 1, where
        with ExitStack() as stack:
            ranks = start(stack, sized, name, places, after)
            for rank in ranks:
                rank.load_state_dict(json.loads(next(iter(states))))
            # Behind the last step, a state is that of the beginning of the next epoch.
            if epoch or at < len(whole[0]):
                assert epoch_of(ranks) == whole[epoch][at:], where
            if epoch == 0:
                assert epoch_of(ranks) == whole[1], where
                audited(ranks, 1, RECORDS - len(bad), len(bad))
