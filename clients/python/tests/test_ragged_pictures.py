"""Streams whose pictures each have a size of their own (semantics rules 61 to 63)."""

import json
import os
import pickle
import random
import signal
from contextlib import ExitStack
from itertools import chain

import forebay
import numpy as np
import pytest
from forebay import Loader, Lockstep, SettingsError, transforms
from PIL import Image
from processes import private_daemons
from sized import RECORDS, own

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

RAGGED = {"buckets": "ragged"}
# 45 records.
BATCH = 4


def picture(sized, record):
    return np.asarray(Image.open(sized.file(record)))


def check(sized, batch, made=picture):
    """Compares a batch with its files."""
    assert len(batch.images) == len(batch) == BATCH
    assert (batch.planned == batch.planned[0]).all()
    assert batch.shown.dtype == np.int32
    for place, (record, mask) in enumerate(zip(batch.records.tolist(), batch.mask.tolist())):
        image = batch.images[place]
        assert image.dtype == np.uint8
        assert batch.shown[place].tolist() == list(image.shape[:2])
        assert mask == (record >= 0)
        if mask:
            expected = made(sized, record)
            assert image.shape == expected.shape
            assert (image == expected).all(), record
        else:
            assert image.shape == (0, 0, 3)
            assert batch.labels[place] == -1
    pixels = sum(image.shape[0] * image.shape[1] for image in batch.images)
    assert batch.padded.images.shape == (pixels, 3)


def job(stack, sized, world_size, **settings):
    def one(rank):
        sharding = Lockstep(8, rank, world_size)
        return Loader(sized.source, sharding=sharding, shuffle=True, seed=4, **{**RAGGED, "epochs": 2, **settings})

    return [stack.enter_context(one(rank)) for rank in range(world_size)]


def told(batch):
    """The own records of a batch with the sums of their pixels, and what is planned."""
    sums = [int(image.sum()) for image, mask in zip(batch.images, batch.mask) if mask]
    return list(zip(own(batch), sums)), int(batch.planned[0])


def steps_of(ranks):
    batches = [[told(batch) for batch in rank] for rank in ranks]
    assert len({len(rank) for rank in batches}) == 1, "all ranks have as many steps"
    return [(list(chain(*(records for records, _ in step))), step[0][1]) for step in zip(*batches)]


def test_rule_63_each_picture_has_its_own_size_and_is_a_view_of_the_ring(sized):
    sized = sized()
    with sized.loader(**RAGGED) as loader:
        assert len(loader) == 12
        seen = []
        for batch in loader:
            check(sized, batch)
            seen += own(batch)
            first, second = batch.images[:2]
            assert not first.flags.writeable
            if batch.mask[1]:
                starts = [image.__array_interface__["data"][0] for image in (first, second)]
                assert starts[1] - starts[0] == first.nbytes, "one behind the other"
            kept = batch.copy()
            check(sized, kept)
            check(sized, pickle.loads(pickle.dumps(kept)))
        assert seen == list(range(RECORDS))
        assert batch.mask.tolist() == [True, False, False, False], "the last step has empty places"
        audit = loader.audit()[0]
        assert (audit.delivered, audit.complete) == (RECORDS, True)


def test_rule_63_transforms_give_each_picture_the_size_that_follows_from_its_own(sized):
    sized = sized()

    def made(sized, record):
        image = Image.open(sized.file(record))
        short = min(image.size)
        sides = [20 * side // short for side in image.size]
        return np.asarray(image.resize(sides, Image.Resampling.BILINEAR))[:, ::-1]

    steps = [transforms.Resize(20), transforms.RandomHorizontalFlip(1.0)]
    with sized.loader(transform=steps, **RAGGED) as loader:
        for batch in loader:
            check(sized, batch, made)


@pytest.mark.parametrize("bad", [[0], [1, 2], [RECORDS - 1], [4, 5, 6, 7]])
def test_rule_62_a_bad_record_has_an_empty_picture_and_no_other_one_moves(sized, bad):
    sized = sized()
    for record in bad:
        sized.replace(record, bytes(len(sized.file(record).read_bytes())))
    with sized.loader(on_error="skip", **RAGGED) as loader:
        seen = []
        for number, batch in enumerate(loader):
            check(sized, batch)
            assert own(batch) == [r for r in range(number * BATCH, min((number + 1) * BATCH, RECORDS)) if r not in bad]
            seen += own(batch)
        assert seen == [record for record in range(RECORDS) if record not in bad]
        audit = loader.audit()[0]
        assert audit.adds_up
        assert (audit.delivered, audit.quarantined) == (len(seen), len(bad))


def test_rule_61_a_picture_of_another_size_than_the_index_says_is_bad_and_writes_over_no_other(sized):
    sized = sized()
    contents = {}
    # One of those whose headers are compared may differ. This one is larger, turned, and smaller.
    for height, width in ((90, 70), (sized.sizes[7][1], sized.sizes[7][0]), (1, 1)):
        contents[7] = sized.file(7).read_bytes()
        sized.write(7, (height, width))
        with sized.loader(on_error="skip", **RAGGED) as loader:
            seen = []
            for batch in loader:
                check(sized, batch)
                seen += own(batch)
            is_same = (height, width) == sized.sizes[7]
            assert seen == [record for record in range(RECORDS) if is_same or record != 7]
        sized.replace(7, contents[7])


def test_rule_63_ranks_share_steps_and_a_state_goes_to_another_number_of_them(sized):
    sized = sized()
    with ExitStack() as stack:
        alone = job(stack, sized, 1)
        whole = [steps_of(alone), steps_of(alone)]
    for epoch in whole:
        records = [record for step, _ in epoch for record, _ in step]
        assert sorted(records) == list(range(RECORDS))
        assert sum(planned for _, planned in epoch) == RECORDS
    assert whole[0] != whole[1]
    drawn = random.Random(63)
    for before, after in ((1, 4), (2, 1), (4, 2), (1, 1)):
        at = drawn.randrange(1, len(whole[0]))
        with ExitStack() as stack:
            ranks = job(stack, sized, before)
            for records, planned in whole[0][:at]:
                batches = [told(rank.next()) for rank in ranks]
                assert list(chain(*(own for own, _ in batches))) == records
                assert {own for _, own in batches} == {planned}
            states = [json.dumps(rank.state_dict()) for rank in ranks]
        assert len(set(states)) == 1, "states of ranks are equal"
        with ExitStack() as stack:
            ranks = job(stack, sized, after)
            for rank in ranks:
                rank.load_state_dict(json.loads(states[0]))
            assert steps_of(ranks) == whole[0][at:]
            assert steps_of(ranks) == whole[1]


@pytest.mark.parametrize("world_size", [1, 2])
def test_rule_16_ranks_have_the_same_pictures_though_their_daemons_are_killed(sized, world_size):
    sized = sized()
    with ExitStack() as stack:
        whole = steps_of(job(stack, sized, 1, epochs=1))
    drawn, seen = random.Random(world_size), []
    with ExitStack() as stack:
        ranks = job(stack, sized, world_size, epochs=1)
        for number in range(len(whole)):
            if number in (1, 4):
                os.kill(drawn.choice(private_daemons()), signal.SIGKILL)
            step = [told(rank.next()) for rank in ranks]
            seen.append((list(chain(*(records for records, _ in step))), step[0][1]))
        assert seen == whole
        assert [rank.next() for rank in ranks] == [None] * world_size
        assert sum(rank.audit()[0].delivered for rank in ranks) == RECORDS
        assert all(rank.audit()[0].complete for rank in ranks)


def test_rule_63_what_ragged_pictures_cannot_have_is_refused_by_name(sized):
    sized = sized()
    for settings, words in (
        ({"dtype": "float32"}, "rows of pixels of uint8"),
        ({"transform": [transforms.RandomShortestSize([20, 30])]}, "random_shortest_size"),
        ({"views": {"small": {"size": 8}}}, "views"),
        ({"mixing": transforms.MixUp(alpha=1.0)}, "two pictures have other sizes"),
    ):
        with pytest.raises(SettingsError, match=words):
            sized.loader(**{**RAGGED, **settings})
    with pytest.raises(forebay.Error, match="sizes of the pictures are not known"):
        Loader(forebay.Source(str(sized.folder), index="none"), batch_size=4, **RAGGED)


def test_rule_63_boxes_follow_ragged_pictures(annotated):
    """Pictures of 8 x 8 are resized to 24 x 24, and mirrored."""
    annotated = forebay.Source(annotated, sizes="height,width")
    targets = forebay.Targets(columns={"boxes": "boxes", "height": "height", "width": "width"})

    def boxes(*steps):
        given = {"batch_size": 5, "epochs": 1, "targets": targets, "transform": list(steps)}
        with Loader(annotated, buckets="ragged", **given) as loader:
            batch = loader.next()
            assert {image.shape for image in batch.images} == {(24, 24, 3) if steps else (8, 8, 3)}
            return [np.array(own) for own in batch.boxes]

    plain, moved = boxes(), boxes(transforms.Resize(24), transforms.RandomHorizontalFlip(1.0))
    assert [len(own) for own in plain] == [0, 1, 2, 0, 3]
    for before, after in zip(plain, moved):
        expected = 3 * before
        expected[:, [0, 2]] = 24 - expected[:, [2, 0]]
        assert (after == expected).all()
