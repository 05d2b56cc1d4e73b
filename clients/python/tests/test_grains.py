"""Datasets whose records are read several at once, here the chunks of RecordIO files."""

import collections
import json
import struct
import subprocess
import zlib

import forebay
import pytest

pytestmark = pytest.mark.daemon

GRAINS = 12
RECORDS = 5  # in each


@pytest.fixture
def chunks(tmp_path):
    return written(tmp_path / "x.recordio", GRAINS)


def written(path, grains):
    """A RecordIO file of Go's dialect. Each picture's colour is its record's number."""
    written = b""
    for grain in range(grains):
        payload = b""
        for record in range(grain * RECORDS, (grain + 1) * RECORDS):
            picture = b"P6 2 2 255\n" + bytes([record]) * 12
            payload += struct.pack("<I", len(picture)) + picture
        written += b"\4\3\2\1" + struct.pack("<IIII", zlib.crc32(payload), 0, len(payload), RECORDS) + payload
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
    with forebay.Loader(chunks, shuffle="grains", shuffle_window=3, **settings()) as loader:
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
    with forebay.Loader(chunks, shuffle="grains", shuffle_window=2, **settings()) as loader:
        whole = records(loader)
    for shard in range(3):
        sharded = settings(sharding=forebay.Shard(shard, 3))
        with forebay.Loader(chunks, shuffle="grains", shuffle_window=2, **sharded) as loader:
            parts += records(loader)
    assert parts == whole


def test_rule_23_and_56_a_state_goes_on_in_the_same_window_and_not_in_another(chunks):
    with forebay.Loader(chunks, shuffle="grains", shuffle_window=3, **settings()) as loader:
        before = [int(record) for _ in range(4) for record in loader.next().records]
        state = loader.state_dict()
    with forebay.Loader(chunks, shuffle="grains", shuffle_window=3, **settings()) as loader:
        loader.load_state_dict(state)
        assert sorted(before + records(loader)) == list(range(GRAINS * RECORDS))
    refused = pytest.raises(forebay.Error, match="shuffle_window was 3 and is now 2")
    with forebay.Loader(chunks, shuffle="grains", shuffle_window=2, **settings()) as loader, refused:
        loader.load_state_dict(state)


FIRST = GRAINS * RECORDS  # the records of the first source
SECOND = 4 * RECORDS  # and of the second


@pytest.fixture
def two(tmp_path):
    """A source of 12 grains, and one of 4."""
    files = [written(tmp_path / "first.recordio", GRAINS), written(tmp_path / "second.recordio", 4)]
    return [f"recordio:{file}" for file in files]


def turns(loader):
    """The records of an epoch with their repeats, by the columns of its batches."""
    seen = []
    for batch in loader:
        seen += zip(batch.records[batch.mask].tolist(), batch.repeats[batch.mask].tolist())
    return seen


def by_grains(drawn, window):
    """Whether somebody who keeps so many grains reads each of these once."""
    kept, read = [], []
    for record in drawn:
        grain = record // RECORDS
        if grain in kept:
            kept.remove(grain)
        else:
            read.append(grain)
        kept = [grain, *kept][:window]
    return len(read) == len(set(read))


def test_rule_56_and_58_each_source_of_a_mixture_is_drawn_by_its_grains_over_all_epochs(two):
    options = settings(shuffle="grains", shuffle_window=2, epochs=4)
    with forebay.Loader(dict(zip(two, (0.25, 0.75))), **options) as loader:
        epochs = [[record for record, _ in turns(loader)] for _ in range(4)]
        assert [(audit.delivered, audit.complete) for audit in loader.audit()] == [(80, True)] * 4
    drawn = [[record for epoch in epochs for record in epoch if (record < FIRST) == is_first] for is_first in (1, 0)]
    # 20 of the 80 positions of an epoch are the first source's, and 60 the second's.
    assert [len(own) for own in drawn] == [4 * 20, 4 * 60]
    for own, count in zip(drawn, (FIRST, SECOND)):
        cycles = [own[start : start + count] for start in range(0, len(own), count)]
        assert all(by_grains(cycle, window=2) for cycle in cycles)
        assert all(len(set(cycle)) == len(cycle) for cycle in cycles)
        assert cycles[0][: len(cycles[1])] != cycles[1]


def test_rule_57_a_source_is_repeated_in_passes_by_its_grains(chunks):
    with forebay.Loader(chunks, **settings(shuffle="grains", shuffle_window=3, repeats=2, epochs=1)) as loader:
        seen = turns(loader)
        assert loader.audit()[0].adds_up
    passes = [[record for record, repeat in seen if repeat == number] for number in range(2)]
    assert [turn for turn in seen if turn[1] == 0] == seen[:FIRST]
    assert all(sorted(own) == list(range(FIRST)) and by_grains(own, window=3) for own in passes)
    assert passes[0] != passes[1]


def test_rule_23_and_58_a_state_of_a_mixture_by_grains_is_taken_back(two):
    options = settings(shuffle="grains", shuffle_window=2, epochs=1)
    weighed = dict(zip(two, (0.25, 0.75)))
    with forebay.Loader(weighed, **options) as loader:
        loader.next()
        state = loader.state_dict()
        rest = turns(loader)
    with forebay.Loader(weighed, **options) as loader:
        loader.load_state_dict(state)
        assert turns(loader) == rest
    assert len(rest) == FIRST + SECOND - 4


def test_rule_16_and_58_a_killed_service_goes_on_by_grains_and_each_source_adds_up(service, binary, two):
    more = {"shuffle": "grains", "shuffle_window": 2, "weights": [0.25, 0.75], "batch_size": 4, "size": 2, "epochs": 2}
    daemon = service(two, **more)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        epochs = []
        for number in range(2):
            epoch = []
            for batch in loader:
                epoch += zip(batch.records[batch.mask].tolist(), batch.repeats[batch.mask].tolist())
                if number == 0 and len(epoch) == 32:
                    daemon.kill()
                    daemon.start()
            epochs.append(epoch)
    for epoch in epochs:
        assert set(collections.Counter(epoch).values()) == {1}
        assert (len(epoch), sum(record < FIRST for record, _ in epoch)) == (80, 20)
    command = [binary, "audit", "train", "--json", "--socket-dir", daemon.socket.parent]
    audited = subprocess.run(command, check=True, capture_output=True, text=True)
    (stream,) = json.loads(audited.stdout)["streams"]
    for epoch in stream["epochs"]:
        assert epoch["verdict"] == "adds_up"
        assert [(each["positions"], each["delivered"]) for each in epoch["sources"]] == [(20, 20), (60, 60)]
