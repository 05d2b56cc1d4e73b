"""The column of random bits for the trainer's own choices (semantics rule 8)."""

import json

import forebay
import numpy as np
import pytest
from forebay import SettingsError, transforms
from test_mosaic import _absorb

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SEED = 7
SETTINGS = {"targets": forebay.Targets(draw=True), "seed": SEED, "shuffle": True, "epochs": 2}


def expected(record, epoch):
    """The bits of a record's first turn, by the hash of `pixels/src/draw.rs`."""
    seed = _absorb(SEED, len("draw"))
    for byte in b"draw":
        seed = _absorb(seed, byte)
    key = 0
    for word in (seed, epoch, record, 0):
        key = _absorb(key, word)
    return _absorb(key, 0)


def drawn(batches):
    """The bits by record."""
    return {record: bits for batch in batches for record, bits in zip(batch.records.tolist(), batch.draw.tolist())}


FORMS = {
    "plain": {"size": 8, "batch_size": 3},
    "filled": {"size": 8, "batch_size": 4, "last_batch_policy": "fill"},
    "mosaics": {"transform": [transforms.Mosaic(8)], "batch_size": 3},
    "views": {"size": 8, "batch_size": 3, "views": {"small": {"size": 4}}},
    "mixed": {"size": 8, "batch_size": 5, "mixing": transforms.MixUp(1.0)},
}


@pytest.mark.parametrize("form", FORMS)
def test_rule_8_each_record_has_its_own_bits_in_each_epoch_whatever_the_batches_are(pictures, form):
    with forebay.Loader(pictures(11), **FORMS[form], **SETTINGS) as loader:
        for epoch in range(2):
            found = drawn(loader)
            assert found == {record: expected(record, epoch) for record in range(11)}
            assert len(set(found.values())) == 11
        assert loader._feed.session.rings()[0].columns[-1][:2] == ("draw", "<u8")


def test_rule_8_turns_of_a_record_have_bits_of_their_own_and_ranks_and_resumed_runs_have_the_same(pictures):
    folder = pictures(12)
    settings = SETTINGS | {"size": 8}
    with forebay.Loader(folder, batch_size=4, repeats=3, **settings) as loader:
        found = [(int(r), int(n), int(bits)) for b in loader for r, n, bits in zip(b.records, b.repeats, b.draw)]
        assert len(found) == len({bits for *_, bits in found}) == 36
        assert {record: bits for record, repeat, bits in found if repeat == 0} == {n: expected(n, 0) for n in range(12)}
    with forebay.Loader(folder, batch_size=4, **settings) as loader:
        begun = drawn([loader.next(), loader.next()])
        state = json.dumps(loader.state_dict())
    with forebay.Loader(folder, batch_size=4, **settings) as loader:
        loader.load_state_dict(json.loads(state))
        assert begun | drawn(loader) == {record: expected(record, 0) for record in range(12)}
    found = {}
    for rank in range(2):
        with forebay.Loader(folder, sharding=forebay.Shard(rank, 2), batch_size=3, **settings) as loader:
            found |= drawn(loader)
    assert found == {record: expected(record, 0) for record in range(12)}


def test_rule_8_bits_are_those_of_the_record_that_a_place_shows_and_none_where_there_is_none(pictures):
    folder = pictures(8)
    (folder / "00003.ppm").write_bytes(b"no picture")
    for on_error in ("replace", "skip"):
        with forebay.Loader(folder, size=8, batch_size=8, on_error=on_error, **SETTINGS) as loader:
            batch = loader.next()
            bits = [expected(record, 0) if record >= 0 else 0 for record in batch.records.tolist()]
            assert batch.draw.tolist() == bits
            assert batch.draw.dtype == np.uint64


def test_rule_64_pictures_of_buckets_have_bits_too(sized):
    sized = sized(20)
    with sized.loader(**SETTINGS) as loader:
        for epoch in range(2):
            assert drawn(loader) == {record: expected(record, epoch) for record in range(20)}


def test_rule_45_a_column_of_the_dataset_cannot_have_its_name(pictures):
    folder = pictures(4)
    lines = [json.dumps({"file_name": f"{number:05}.ppm", "draw": number}) for number in range(4)]
    (folder / "metadata.jsonl").write_text("\n".join(lines))
    settings = SETTINGS | {"targets": forebay.Targets(columns={"draw": "draw"}, draw=True)}
    with pytest.raises(SettingsError, match="draw"):
        forebay.Loader(folder, size=8, batch_size=2, **settings)
