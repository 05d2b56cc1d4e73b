"""Lockstep: every step has the same records, whatever the number of ranks (semantics rule 40)."""

import json
import logging
from contextlib import ExitStack
from itertools import chain

import forebay
import pytest
from forebay import SettingsError

pytestmark = pytest.mark.daemon

RECORDS = 20
SETTINGS = {"size": 8, "shuffle": True, "epochs": 2}


def job(stack, folder, world_size):
    ranks = [
        forebay.Loader(folder, sharding=forebay.Lockstep(6, rank, world_size), **SETTINGS) for rank in range(world_size)
    ]
    return [stack.enter_context(rank) for rank in ranks]


def epoch(ranks):
    """The own records of each step, in the order of ranks."""
    batches = [[batch.records[batch.mask].tolist() for batch in rank] for rank in ranks]
    assert len({len(rank) for rank in batches}) == 1, "all ranks have as many steps"
    return [list(chain(*step)) for step in zip(*batches)]


def test_rule_40_ranks_share_each_step_and_a_state_may_go_to_another_number_of_them(pictures):
    folder = pictures(RECORDS)
    with ExitStack() as stack:
        alone = job(stack, folder, 1)
        whole = [epoch(alone), epoch(alone)]
    assert [len(step) for step in whole[0]] == [6, 6, 6, 2]
    assert sorted(chain(*whole[1])) == list(range(RECORDS))
    with ExitStack() as stack:
        two = job(stack, folder, 2)
        assert len(two[0]) == 4
        assert epoch(two) == whole[0]
        told = [[rank.next().records.tolist() for rank in two] for _ in range(2)]
        assert [list(chain(*step)) for step in told] == whole[1][:2]
        states = [json.dumps(rank.state_dict()) for rank in two]
    state = json.loads(states[1])
    assert (state["epoch"], state["cursor"]) == (1, 12)
    with ExitStack() as stack:
        three = job(stack, folder, 3)
        for rank in three:
            rank.load_state_dict(state)
        assert epoch(three) == whole[1][2:]


def test_rule_40_rank_and_world_size_come_from_the_launcher_and_the_log_says_so(pictures, monkeypatch, caplog):
    folder = pictures(RECORDS)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with (
        caplog.at_level(logging.INFO, "forebay"),
        forebay.Loader(folder, sharding=forebay.Lockstep(6), **SETTINGS) as loader,
    ):
        assert loader.next().records.shape == (3,)
    assert "this process reads rank 1 of 2, according to RANK and WORLD_SIZE" in caplog.text


def test_rule_40_what_does_not_fit_is_refused_with_what_does(pictures):
    folder = pictures(RECORDS)
    with pytest.raises(SettingsError, match="World sizes that fit: 1, 2, 3, 6"):
        forebay.Loader(folder, sharding=forebay.Lockstep(6, 0, 4), **SETTINGS)
    with pytest.raises(SettingsError, match="batch_size: is global_batch divided by the number of ranks"):
        forebay.Loader(folder, sharding=forebay.Lockstep(6, 0, 2), batch_size=3, **SETTINGS)
    with pytest.raises(SettingsError, match="global_batch: is missing"):
        forebay.Loader(folder, sharding=forebay.Lockstep(rank=0, world_size=2), size=8)
    with pytest.raises(SettingsError, match="Lockstep needs rank and world_size: give both, or start the job"):
        forebay.Loader(folder, size=8, batch_size=4, sharding=forebay.Lockstep(6))
