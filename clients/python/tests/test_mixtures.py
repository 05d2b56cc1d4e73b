"""Several sources as one dataset, with and without weights, and epochs that repeat records."""

import collections
import json
import subprocess

import forebay
import numpy as np
import pytest
from forebay import Source
from forebay.errors import SettingsError
from forebay.settings import request

pytestmark = pytest.mark.daemon


def asked(source, **given):
    found = request(source, {"batch_size": 4, **given}, by_name=False, interpreter="/venv/my python")
    return json.loads(found.settings)


def turns(loader):
    """The turns of an epoch: records with their repeats, as batches have them."""
    seen = collections.Counter()
    for batch in loader:
        own = batch.mask
        repeats = batch.repeats if "repeats" in batch.columns else np.zeros(len(batch.records), int)
        seen.update(zip(batch.records[own].tolist(), repeats[own].tolist()))
    return seen


def by_record(seen):
    counts = collections.Counter()
    for (record, _), times in seen.items():
        counts[record] += times
    return counts


def test_a_list_of_folders_or_schemes_is_one_of_sources_and_a_dict_has_weights(pictures):
    first, second = (str(pictures(2, name=name)) for name in ("first", "second"))
    assert asked([first, second])["source"] == [first, second]
    assert "weights" not in asked([first, "tar:///x/*.tar"])
    weighed = asked({first: 0.7, second: np.float32(0.5)})
    assert (weighed["source"], weighed["weights"]) == ([first, second], [0.7, 0.5])
    assert asked([(first, 3), (second, 1)])["weights"] == [3.0, 1.0]
    changing = asked({first: {0: 1, np.int64(9): 0}, second: {4: np.float64(2.5), 0: 1}})
    assert changing["weights"] == [[0, [1.0, 1.0]], [4, [1.0, 2.5]], [9, [0.0, 2.5]]]
    assert asked([f"{first}/00000.ppm"]) == {"batch_size": 4, "files": True}
    assert asked([(f"{first}/00000.ppm", 3)]) == {"batch_size": 4, "files": True}
    readers = asked([first, "python:///r.py?class=R"])["source"][1]
    assert readers == "python:///r.py?class=R&python=/venv/my%20python"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _: {}, "the dict of sources is empty"),
        (lambda first: {first: "much"}, "the weight of .* is 'much'"),
        (lambda first: {first: True}, "the weight of .* is True"),
        (lambda first: {first: {1: 0.5}}, r"the weight of .* is \{1: 0.5\}; .* or a dict from the first epoch"),
        (lambda first: {first: {0: 0.5, 1.5: 1}}, "a dict from the first epoch"),
        (lambda first: {first: {0: 0.5, -1: 1}}, "a dict from the first epoch"),
        (lambda first: {first: {0: 0.5, 3: None}}, "a dict from the first epoch"),
        (lambda first: {first: {}}, "a dict from the first epoch"),
        (lambda first: [first, 7], "entry 1 of the sources is 7"),
        (lambda first: [(first, 1), first], "entry 1 of the sources is"),
        (lambda first: [first, "stream:train"], "'stream:train' is a stream"),
    ],
)
def test_sources_that_cannot_be_are_refused_by_name(pictures, make, words):
    with pytest.raises(SettingsError, match=words):
        asked(make(str(pictures(2))))


def test_a_source_of_several_has_its_root_and_its_options_behind_its_path(pictures):
    folder = str(pictures(2))
    rooted = Source("csv:/a.csv", root="/data", limit=3, roles={"boxes": "xywh"}, strict=True)
    expected = "csv:/a.csv?roles.boxes=xywh&limit=3&strict=true&root=/data"
    assert sorted(asked([rooted, folder])["source"][0].split("?")[1].split("&")) == sorted(
        expected.split("?")[1].split("&")
    )
    assert (
        asked([folder, Source("tar:/b.tar?limit=2", payload="a b")])["source"][1] == "tar:/b.tar?limit=2&payload=a%20b"
    )
    assert asked({folder: 1, Source("tar:/b.tar"): 2})["source"] == [folder, "tar:/b.tar"]
    for wrong, words in (
        (Source("tar:/b.tar", index="/i"), "an index is of a whole"),
        (Source("/b", limit=1), "no scheme"),
    ):
        with pytest.raises(SettingsError, match=words):
            asked([folder, wrong])


def test_rule_58_sources_are_one_dataset_with_merged_classes(pictures):
    first, second = pictures(6, classes=2, name="first"), pictures(4, classes=1, name="second")
    (second / "class-1").mkdir()
    for number in range(4):
        (second / f"{number:05}.ppm").rename(second / "class-1" / f"{number:05}.ppm")
    with forebay.Loader([first, second], batch_size=5, size=8, epochs=1) as loader:
        assert loader.classes == ["class-0", "class-1"]
        batches = [
            (batch.records.tolist(), batch.labels.tolist(), batch.images[:, 0, 0, 0].tolist()) for batch in loader
        ]
        assert loader.audit()[0].adds_up
    assert [each for records, _, _ in batches for each in records] == list(range(10))
    assert [each for _, labels, _ in batches for each in labels] == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert [each for _, _, colours in batches for each in colours] == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]


@pytest.mark.parametrize("shuffle", [False, True])
def test_rule_57_each_record_has_every_repeat_and_its_copies_differ(jpegs, shuffle):
    crop = [forebay.transforms.RandomResizedCrop(16)]
    images = {}
    with forebay.Loader(jpegs, batch_size=8, transform=crop, shuffle=shuffle, repeats=3, epochs=1) as loader:
        assert len(loader) == 5
        for batch in loader:
            for record, repeat, image in zip(batch.records, batch.repeats, batch.images):
                images[int(record), int(repeat)] = image.copy()
        audit = loader.audit()[0]
    assert set(images) == {(record, repeat) for record in range(12) for repeat in range(3)}
    assert (audit.delivered, audit.adds_up) == (36, True)
    assert all((images[record, 0] != images[record, 1]).any() for record in range(12))
    with forebay.Loader(jpegs, batch_size=12, transform=crop, epochs=1) as loader:
        batch = loader.next()
        assert "repeats" not in batch.columns
        # The first turn of a record has the random choices that it has without repeats.
        assert all((batch.images[record] == images[record, 0]).all() for record in range(12))


def test_rule_13_and_57_shards_share_out_the_turns_of_an_epoch(pictures):
    seen = collections.Counter()
    for shard in range(3):
        with forebay.Loader(
            pictures(7),
            batch_size=4,
            size=8,
            shuffle=True,
            seed=3,
            repeats=2,
            epochs=1,
            sharding=forebay.Shard(shard, 3),
        ) as loader:
            seen += turns(loader)
    assert seen == collections.Counter({(record, repeat): 1 for record in range(7) for repeat in range(2)})


def test_rule_58_weights_share_out_every_epoch_and_no_record_is_left_behind(pictures):
    sources = {str(pictures(10, name="first")): 0.75, str(pictures(6, name="second")): 0.25}
    with forebay.Loader(sources, batch_size=4, size=8, shuffle=True, epochs=5) as loader:
        epochs = [turns(loader) for _ in range(5)]
    total = collections.Counter()
    for epoch in epochs:
        assert set(epoch.values()) == {1}
        counts = by_record(epoch)
        assert sum(counts[record] for record in range(10)) == 12
        assert sum(counts[record] for record in range(10, 16)) == 4
        total += counts
    assert {total[record] for record in range(10)} == {6}
    assert {total[record] for record in range(10, 16)} <= {3, 4}
    assert epochs[0] != epochs[1]


def test_rule_23_and_58_a_state_of_a_mixture_is_taken_back(pictures):
    sources = {str(pictures(10, name="first")): 0.75, str(pictures(6, name="second")): 0.25}
    settings = {"batch_size": 4, "size": 8, "shuffle": True, "epochs": 1}
    with forebay.Loader(sources, **settings) as loader:
        loader.next()
        state = loader.state_dict()
        rest = turns(loader)
    with forebay.Loader(sources, **settings) as loader:
        loader.load_state_dict(state)
        assert turns(loader) == rest
    assert sum(rest.values()) == 12
    with (
        forebay.Loader({**sources, next(iter(sources)): 0.5}, **settings) as other,
        pytest.raises(forebay.Error, match="positions of each source"),
    ):
        other.load_state_dict(state)


def test_rule_67_weights_change_between_epochs_and_each_source_is_read_on(pictures):
    first, second = (str(pictures(count, name=name)) for count, name in ((8, "first"), (4, "second")))
    settings = {"batch_size": 3, "size": 8, "shuffle": True, "epochs": 5}
    sources = {first: {0: 1, 2: 1, 4: 0}, second: {0: 0, 2: 2}}
    states, epochs, total = [], [], collections.Counter()
    with forebay.Loader(sources, **settings) as loader:
        for _ in range(5):
            states.append(loader.state_dict())
            epochs.append(turns(loader))
            total += by_record(epochs[-1])
    shares = [sum(record < 8 for record, _ in epoch.elements()) for epoch in epochs]
    assert (shares, {sum(epoch.values()) for epoch in epochs}) == ([12, 12, 4, 4, 0], {12})
    assert {total[record] for record in range(8)} == {4}
    assert {total[record] for record in range(8, 12)} == {7}
    with forebay.Loader(sources, **settings) as loader:
        loader.load_state_dict(states[3])
        assert [turns(loader), turns(loader)] == epochs[3:]
    refused = r"positions of each source was 12 \+ 0, from epoch 2 on 4 \+ 8, .* and is now"
    with (
        forebay.Loader({first: {0: 1, 3: 0}, second: {0: 0, 3: 2}}, **settings) as other,
        pytest.raises(forebay.Error, match=refused),
    ):
        other.load_state_dict(states[0])


def test_rule_16_and_58_a_killed_service_goes_on_and_the_audit_has_a_line_for_each_source(service, binary, pictures):
    sources = [pictures(20, name="first"), pictures(30, name="second")]
    settings = {"weights": [0.7, 0.3], "repeats": 2, "batch_size": 4, "size": 8, "shuffle": True, "epochs": 2}
    daemon = service(sources, **settings)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        seen = []
        for number in range(2):
            epoch = []
            for batch in loader:
                epoch += zip(batch.records[batch.mask].tolist(), batch.repeats[batch.mask].tolist())
                if number == 0 and len(epoch) == 32:
                    daemon.kill()
                    daemon.start()
            seen.append(epoch)
    for epoch in seen:
        assert set(collections.Counter(epoch).values()) == {1}
        assert (len(epoch), sum(record < 20 for record, _ in epoch)) == (100, 70)
    audited = subprocess.run(
        [binary, "audit", "train", "--json", "--socket-dir", daemon.socket.parent],
        check=True,
        capture_output=True,
        text=True,
    )
    (stream,) = json.loads(audited.stdout)["streams"]
    assert [epoch["verdict"] for epoch in stream["epochs"]] == ["adds_up", "adds_up"]
    for epoch in stream["epochs"]:
        found = [(each["source"], each["records"], each["positions"], each["delivered"]) for each in epoch["sources"]]
        assert found == [(str(sources[0]), 20, 70, 70), (str(sources[1]), 30, 30, 30)]
    assert stream["epochs"][0]["sources"][0]["repeats"] == 50
