"""Runs of streams with patches: ranks, states and kills (semantics rules 16, 62 and 65)."""

import json
import os
import random
import signal
from contextlib import ExitStack
from itertools import chain

import forebay
import numpy as np
import pytest
from forebay import SettingsError
from patched import LENGTHS, PATCHES, SIDE, check, grid_of, spoil
from PIL import Image
from processes import private_daemons
from sized import RECORDS, own

pytestmark = pytest.mark.daemon

TOKENS = {**PATCHES, "tokens": 160, "divisor": 4}


def job(stack, sized, world_size, **settings):
    settings = {"buckets": None, "patches": TOKENS, "batch_size": None, "shuffle": True, "epochs": 2, **settings}
    ranks = [sized.loader(sharding=forebay.Lockstep(None, rank, world_size), **settings) for rank in range(world_size)]
    return [stack.enter_context(rank) for rank in ranks]


def told(batch):
    return own(batch), batch.images.shape, (int(batch.planned[0]), int(batch.planned_tokens[0]))


def steps_of(ranks):
    """The own records of each step in the order of ranks, its length, and what is planned."""
    batches = [[told(batch) for batch in rank] for rank in ranks]
    assert len({len(rank) for rank in batches}) == 1, "all ranks have as many steps"
    for step in zip(*batches):
        assert len({(shape, planned) for _, shape, planned in step}) == 1, "all ranks have batches of one shape"
    return [(list(chain(*(records for records, _, _ in step))), step[0][1][1], step[0][2]) for step in zip(*batches)]


def test_rule_65_ranks_share_steps_and_a_state_of_any_step_goes_to_another_number_of_them(sized):
    sized = sized()
    with ExitStack() as stack:
        alone = job(stack, sized, 1)
        whole = [steps_of(alone), steps_of(alone)]
        assert alone[0].audit()[0].complete
    for epoch in whole:
        assert sorted(chain(*(records for records, _, _ in epoch))) == list(range(RECORDS))
        assert sorted(length for _, length, _ in epoch) == sorted(length for _, length, _ in whole[0])
    assert whole[0] != whole[1]
    drawn = random.Random(9)
    for before, after in ((1, 4), (2, 1), (4, 2), (1, 1)):
        at = drawn.randrange(1, len(whole[0]))
        with ExitStack() as stack:
            ranks = job(stack, sized, before)
            assert len(ranks[0]) == len(whole[0])
            for records, length, planned in whole[0][:at]:
                batches = [rank.next() for rank in ranks]
                assert list(chain(*map(own, batches))) == records
                assert {told(batch)[1][1] for batch in batches} == {length}
                assert {told(batch)[2] for batch in batches} == {planned}, "of all ranks"
            states = [json.dumps(rank.state_dict()) for rank in ranks]
        assert len(set(states)) == 1, "states of ranks are equal"
        with ExitStack() as stack:
            ranks = job(stack, sized, after)
            for rank in ranks:
                rank.load_state_dict(json.loads(states[0]))
            assert steps_of(ranks) == whole[0][at:]
            assert steps_of(ranks) == whole[1]
    with ExitStack() as stack, pytest.raises(SettingsError, match="does not divide the places"):
        job(stack, sized, 3)


def test_rule_65_a_state_of_other_lengths_is_refused(sized):
    sized = sized()
    with sized.loader(buckets=None, patches=PATCHES) as stream:
        stream.next()
        state = stream.state_dict()
    other = {**PATCHES, "seq_lens": [*LENGTHS[:2], 24]}
    with (
        sized.loader(buckets=None, patches=other) as stream,
        pytest.raises(forebay.Error, match="seq_lens was 6, 12, 20 and is now 6, 12, 24"),
    ):
        stream.load_state_dict(state)


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
            step = [told(rank.next()) for rank in ranks]
            seen.append((list(chain(*(records for records, _, _ in step))), step[0][1][1], step[0][2]))
        assert seen == whole
        assert [rank.next() for rank in ranks] == [None] * world_size
        assert sum(rank.audit()[0].delivered for rank in ranks) == RECORDS
        assert all(rank.audit()[0].complete for rank in ranks)


def test_rule_65_bad_records_keep_their_place_first_in_the_middle_last_and_all_of_a_step(sized):
    sized = sized()
    settings = {"buckets": None, "patches": PATCHES}
    for bad in ([0], [17], [RECORDS - 1], [4, 5, 6, 7]):
        contents = {number: sized.file(number).read_bytes() for number in bad}
        for number in bad:
            spoil(sized, number)
        with sized.loader(on_error="skip", **settings) as stream:
            seen, lengths = [], []
            for batch in stream:
                seen += own(batch)
                lengths.append(batch.images.shape[1])
                if batch.mask.any():
                    check(sized, batch)
            assert seen == [record for record in range(RECORDS) if record not in bad]
            audit = stream.audit()[0]
            assert audit.adds_up
            assert (audit.delivered, audit.quarantined) == (len(seen), len(bad))
        assert lengths == (LENGTHS * 5)[: len(lengths)]
        for number, content in contents.items():
            sized.replace(number, content)


def test_a_contact_sheet_shows_the_pictures_that_were_cut_and_no_padding(service, sized, tmp_path):
    sized = sized(8)
    sheet = tmp_path / "sheet.png"
    daemon = service(sized.folder, batch_size=4, patches=PATCHES)
    said = daemon.says("preview", "--stream", "train", "--output", str(sheet))
    assert "4 pictures" in said
    drawn = np.asarray(Image.open(sheet))
    for record in range(4):
        left = 8 + record * (64 + 8)
        # The first step has the first length.
        rows, columns = grid_of(sized.sizes[record], SIDE, LENGTHS[0])
        height, width = rows * SIDE, columns * SIDE
        whole = Image.open(sized.file(record)).resize((width, height), Image.Resampling.BICUBIC)
        assert (drawn[8 : 8 + height, left : left + width] == np.asarray(whole)).all(), record
        assert (drawn[8 : 8 + height, left + width : left + width + 8] == drawn[0, 0]).all()
