"""Streams of some records of a dataset: `select` and `where` (semantics rule 66)."""

import json
import os
import random
import signal
import subprocess
from contextlib import ExitStack
from itertools import chain

import forebay
import numpy as np
import pytest
from forebay import DatasetError, SettingsError, transforms
from processes import private_daemons
from sized import BUCKETS, RECORDS, own

pytestmark = pytest.mark.daemon

KEPT = [0, 3, 4, 7, 11, 12, 13, 19, 22, 25, 26, 27, 31, 38, 39]
SETTINGS = {"size": 8, "batch_size": 4, "shuffle": True, "epochs": 2}


@pytest.fixture
def keep(tmp_path):
    """Writes a list of records."""

    def write(records=KEPT, name="keep.npy"):
        np.save(tmp_path / name, np.asarray(records))
        return tmp_path / name

    return write


def test_rule_66_each_selected_record_comes_once_an_epoch_under_its_own_number(pictures, keep, monkeypatch, tmp_path):
    folder = pictures(40)
    monkeypatch.chdir(tmp_path)
    keep(random.Random(1).sample(KEPT, len(KEPT)))
    with forebay.Loader(folder, **SETTINGS) as loader:
        whole = {record: image.tobytes() for batch in loader for record, image in zip(batch.records, batch.images)}
    # The order of the list means nothing, a relative path starts here, and bools say the same.
    keep(np.isin(np.arange(40), KEPT), "bools.npy")
    orders = []
    for select in ("keep.npy", tmp_path / "bools.npy"):
        with forebay.Loader(folder, select=select, **SETTINGS) as loader:
            assert len(loader) == -(-len(KEPT) // 4)
            epochs = [[(own(batch), batch.images.copy()) for batch in loader] for _ in range(2)]
            for epoch in epochs:
                records = list(chain(*(records for records, _ in epoch)))
                assert sorted(records) == KEPT
                for records, images in epoch:
                    assert all(whole[record] == image.tobytes() for record, image in zip(records, images))
            assert [audit.adds_up for audit in loader.audit()] == [True, True]
            assert [audit.delivered for audit in loader.audit()] == [len(KEPT)] * 2
            orders.append([records for epoch in epochs for records, _ in epoch])
    assert orders[0] == orders[1]
    with forebay.Loader(folder, select="keep.npy", **SETTINGS | {"shuffle": False}) as loader:
        assert list(chain(*map(own, loader))) == KEPT, "in the dataset's order"


def test_rule_66_conditions_compare_labels_sizes_and_class_names(pictures, sized, keep):
    folder = pictures(20, classes=4)
    with forebay.Loader(folder, **SETTINGS) as loader:
        labels = {}
        for batch in loader:
            labels |= dict(zip(batch.records.tolist(), batch.labels.tolist()))
        classes = loader.classes
    select = keep(range(0, 20, 2))
    for where, holds in (
        ("label in (1, 2)", lambda label: label in (1, 2)),
        (f"not (label = '{classes[0]}' or label >= 3)", lambda label: label in (1, 2)),
        (f'label != "{classes[3]}"', lambda label: label != 3),
    ):
        expected = [record for record in range(20) if holds(labels[record])]
        with forebay.Loader(folder, where=where, **SETTINGS) as loader:
            assert sorted(chain(*map(own, loader))) == expected
        with forebay.Loader(folder, where=where, select=select, **SETTINGS) as loader:
            assert sorted(chain(*map(own, loader))) == [record for record in expected if record % 2 == 0]
    sized = sized()
    with sized.loader(where="pixels >= 200 and aspect <= 1.3", buckets=None, size=8) as loader:
        found = sorted(chain(*map(own, loader)))
    pixels = [(height * width, max(height, width) / min(height, width)) for height, width in sized.sizes]
    assert found == [record for record, (area, aspect) in enumerate(pixels) if area >= 200 and aspect <= 1.3]
    assert 0 < len(found) < RECORDS


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_rule_66_ranks_share_the_selected_records_though_their_daemons_are_killed(pictures, keep, world_size):
    folder, select = pictures(40), keep()
    settings = {"size": 8, "shuffle": True, "epochs": 2, "select": select}
    with ExitStack() as stack:
        ranks = [
            stack.enter_context(forebay.Loader(folder, sharding=forebay.Lockstep(4, rank, world_size), **settings))
            for rank in range(world_size)
        ]
        for epoch in range(2):
            seen = []
            for number in range(len(ranks[0])):
                if number == 1:
                    os.kill(random.Random(epoch).choice(private_daemons()), signal.SIGKILL)
                seen += chain(*(own(rank.next()) for rank in ranks))
            assert sorted(seen) == KEPT
            assert [rank.next() for rank in ranks] == [None] * world_size
        assert sum(audit.delivered for rank in ranks for audit in rank.audit()) == 2 * len(KEPT)


def test_rule_66_a_killed_service_and_a_state_continue_with_the_selected_records(service, pictures, keep):
    folder = pictures(40)
    daemon = service(folder, select=str(keep()), **SETTINGS)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        seen = [own(loader.next()) for _ in range(2)]
        daemon.kill()
        daemon.start()
        seen += map(own, loader)
        assert sorted(chain(*seen)) == KEPT
        assert loader.audit()[0].adds_up
        first = own(loader.next())
        state = json.dumps(loader.state_dict())
        rest = list(map(own, loader))
        assert sorted(chain(first, *rest)) == KEPT
        assert [audit.adds_up for audit in loader.audit()] == [True, True]
    (stream,) = json.loads(daemon.says("audit", "--json"))["streams"]
    assert [(epoch["verdict"], epoch["records"]) for epoch in stream["epochs"]] == [("adds_up", len(KEPT))] * 2
    with forebay.Loader(folder, select=keep(), **SETTINGS) as loader:
        loader.load_state_dict(json.loads(state))
        assert sorted(chain(*map(own, loader))) == sorted(chain(*rest))


def test_rule_66_weights_repeats_shards_and_buckets_count_the_selected_records(pictures, sized, keep):
    folders = [pictures(20, name="one"), pictures(20, name="two")]
    select = keep()
    with forebay.Loader(folders, select=select, repeats=3, **SETTINGS) as loader:
        assert len(loader) == -(-3 * len(KEPT) // 4)
        assert sorted(chain(*map(own, loader))) == sorted(KEPT * 3)
        assert loader.audit()[0].adds_up
    first = [record for record in KEPT if record < 20]
    weights = {str(folders[0]): 0.8, str(folders[1]): 0.2}
    with forebay.Loader(weights, select=select, **SETTINGS) as loader:
        records = list(chain(*map(own, loader)))
        assert len(records) == len(KEPT)
        assert set(records) <= set(KEPT)
        assert sum(record < 20 for record in records) == 12 > len(first)
    with pytest.raises(SettingsError, match=r"No record of the source \".*two\" is selected\. Leave the source out"):
        forebay.Loader(folders, select=keep(first, "first.npy"), **SETTINGS)
    shards = []
    for shard in range(2):
        part = SETTINGS | {"epochs": 1, "sharding": forebay.Shard(shard, 2)}
        with forebay.Loader(folders[0], select=keep(first, "first.npy"), **part) as loader:
            shards += chain(*map(own, loader))
    assert sorted(shards) == first
    sized = sized()
    with sized.loader(select=keep(range(1, RECORDS, 2), "odd.npy"), buckets=BUCKETS) as loader:
        assert sorted(chain(*map(own, loader))) == list(range(1, RECORDS, 2))
        assert loader.audit()[0].adds_up


def test_rule_66_max_failures_as_a_fraction_counts_the_selected_records(pictures, keep):
    folder = pictures(40)
    # 2 of 15 selected records are bad, and 2 of 40 of the dataset.
    for record, file in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        if record in (3, 12):
            file.write_bytes(b"no picture")
    settings = SETTINGS | {"select": keep(), "on_error": "skip"}
    with forebay.Loader(folder, max_failures=0.14, **settings) as loader:
        assert sorted(chain(*map(own, loader))) == sorted(set(KEPT) - {3, 12})
        assert loader.audit()[0].adds_up
    with pytest.raises(forebay.RecordError), forebay.Loader(folder, max_failures=0.10, **settings) as loader:
        list(loader)


def test_rule_66_what_cannot_be_selected_is_refused_with_the_first_wrong_entry(pictures, keep, tmp_path):
    folder = pictures(10)

    def refused(words, kind=DatasetError, **settings):
        with pytest.raises(kind, match=words):
            forebay.Loader(folder, **SETTINGS, **settings)

    refused(r"its entry 2 is 10, and the dataset has records 0 to 9", select=keep([1, 2, 10]))
    refused(r"its entry 1 is 3, which is in it already", select=keep([3, 3]))
    refused(r"9 bools, and the dataset has 10 records", select=keep([True] * 9))
    refused(r"its values are f64", select=keep([1.0]))
    refused(r"`select` selects none of the 10 records", select=keep([False] * 10))
    refused(r"`where` selects none of the 10 records", where="label >= 0")
    refused(r"where: cannot be read: .*\n  label ==\n +\^", SettingsError, where="label ==")
    refused(r"no column \"babel\"\. Did you mean \"label\"\?\n  babel = 0\n  \^", where="babel = 0")
    refused(r"forebay index SOURCE --sizes", where="pixels > 9")
    refused(r"none.npy", select=tmp_path / "none.npy")


def test_rule_66_partners_of_a_mosaic_are_selected_records(pictures, keep):
    mosaic = SETTINGS | {"size": None, "transform": [transforms.Mosaic(16)]}
    with forebay.Loader(pictures(40), select=keep(), **mosaic) as loader:
        for _ in range(2):
            shown, mixed = set(), 0
            for batch in loader:
                for image in batch.images:
                    # Each picture has one colour, in which the red is its number.
                    of_pictures = image[(image[..., 1] == 100) & (image[..., 2] == 200)]
                    colours = set(of_pictures[:, 0].tolist())
                    shown |= colours
                    mixed += len(colours) > 1
            assert shown <= set(KEPT)
            assert len(shown) > len(KEPT) // 2
            assert mixed > len(KEPT) // 2, "most mosaics show partners"
        assert [audit.adds_up for audit in loader.audit()] == [True, True]


def test_rule_66_a_run_with_another_selection_is_refused_with_both_digests(pictures, keep):
    folder = pictures(20)
    settings = SETTINGS | {"run": "kept"}
    with forebay.Loader(folder, select=keep([1, 2, 3, 5, 8]), **settings) as loader:
        loader.next()
    digest = r"[0-9a-f]{16} \(5 of 20 records\)"
    with pytest.raises(SettingsError, match=rf"the selection was {digest} and is now {digest}"):
        forebay.Loader(folder, select=keep([1, 2, 3, 5, 9]), **settings)
    with pytest.raises(SettingsError, match=rf"the selection was {digest} and is now none"):
        forebay.Loader(folder, **settings)
    # The same records, however they are chosen.
    where = keep(np.isin(np.arange(20), [1, 2, 3, 5, 8]), "bools.npy")
    with forebay.Loader(folder, select=where, **settings) as loader:
        assert set(own(loader.next())) <= {1, 2, 3, 5, 8}


def test_rule_66_commands_take_both(binary, sized, keep, tmp_path):
    sized = sized()
    select = ["--select", str(keep(range(10)))]
    where = ["--where", "aspect <= 1.3"]

    def says(*words):
        return json.loads(subprocess.run([binary, *words, "--json"], check=True, capture_output=True).stdout)

    few = [record for record in range(10) if max(sized.sizes[record]) / min(sized.sizes[record]) <= 1.3]
    plan = says(
        "plan",
        str(sized.folder),
        "--index",
        str(sized.index),
        "--buckets",
        "16x16",
        "--batch-size",
        "2",
        *select,
        *where,
    )
    assert sum(bucket["records"] for bucket in plan["buckets"]) == len(few) > 0
    verified = says("verify", str(sized.folder), *select)
    assert verified["records"] == 10
    measured = says("bench", str(sized.folder), "--seconds", "0", "--size", "8", "--batch-size", "5", *select)
    assert measured
    sheet = tmp_path / "sheet.png"
    preview = subprocess.run(
        [binary, "preview", str(sized.folder), "--count", "24", "--size", "8", *select, "--output", sheet],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "10 pictures" in preview
    refused = subprocess.run(
        [binary, "verify", str(sized.folder), "--where", "label ="], capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert refused.stderr.endswith("\n  label =\n         ^\n")
