"""Datasets whose records are read several at once, here the chunks of RecordIO files."""

import struct
import zlib

import forebay
import pytest

pytestmark = pytest.mark.daemon

GRAINS = 12
RECORDS = 5  # in each


@pytest.fixture
def chunks(tmp_path):
    """A RecordIO file of Go's dialect. Each picture's colour is its record's number."""
    written = b""
    for grain in range(GRAINS):
        payload = b""
        for record in range(grain * RECORDS, (grain + 1) * RECORDS):
            picture = b"P6 2 2 255\n" + bytes([record]) * 12
            payload += struct.pack("<I", len(picture)) + picture
        written += b"\4\3\2\1" + struct.pack("<IIII", zlib.crc32(payload), 0, len(payload), RECORDS) + payload
    path = tmp_path / "x.recordio"
    path.write_bytes(written)
    return str(path)


def records(loader):
    """The records of an epoch, by what their pictures show."""
    seen = []
    for batch in loader:
        for record, image, own in zip(batch.records, batch.images, batch.mask):
            if own:
                assert (image == record).all()
                seen.append(int(record))
    return seen


def settings(**more):
    return {"batch_size": 4, "transform": [forebay.transforms.Resize((2, 2))], "seed": 7, "epochs": 2, **more}


def test_rule_56_each_window_of_an_epoch_has_the_records_of_its_grains_and_of_no_other(chunks):
    with forebay.Loader(chunks, shuffle="shard", shuffle_window=3, **settings()) as loader:
        epochs = [records(loader), records(loader)]
        assert all(audit.adds_up for audit in loader.audit())
    everything = list(range(GRAINS * RECORDS))
    assert epochs[0] != epochs[1]
    for epoch in epochs:
        assert epoch != everything
        assert sorted(epoch) == everything
        windows = [epoch[start : start + 3 * RECORDS] for start in range(0, len(epoch), 3 * RECORDS)]
        grains = [{record // RECORDS for record in window} for window in windows]
        assert [len(each) for each in grains] == [3, 3, 3, 3]
        assert set.union(*grains) == set(range(GRAINS))


def test_rule_13_and_56_shards_share_out_the_order_of_grains(chunks):
    parts = []
    with forebay.Loader(chunks, shuffle="shard", shuffle_window=2, **settings()) as loader:
        whole = records(loader)
    for shard in range(3):
        sharded = settings(shard_id=shard, num_shards=3)
        with forebay.Loader(chunks, shuffle="shard", shuffle_window=2, **sharded) as loader:
            parts += records(loader)
    assert parts == whole


def test_rule_23_and_56_a_state_goes_on_in_the_same_window_and_not_in_another(chunks):
    with forebay.Loader(chunks, shuffle="shard", shuffle_window=3, **settings()) as loader:
        before = [int(record) for _ in range(4) for record in loader.next().records]
        state = loader.state_dict()
    with forebay.Loader(chunks, shuffle="shard", shuffle_window=3, **settings()) as loader:
        loader.load_state_dict(state)
        assert sorted(before + records(loader)) == list(range(GRAINS * RECORDS))
    refused = pytest.raises(forebay.Error, match="shuffle_window was 3 and is now 2")
    with forebay.Loader(chunks, shuffle="shard", shuffle_window=2, **settings()) as loader, refused:
        loader.load_state_dict(state)
