"""Several views of a record: columns with sizes, types and random choices of their own."""

import contextlib
import hashlib
import os
import re
import signal
import socket

import forebay
import numpy as np
import pytest
from forebay import transforms
from forebay.errors import SettingsError
from processes import private_daemons, wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

CROP = [transforms.RandomResizedCrop(24), transforms.RandomHorizontalFlip(), transforms.ColorJitter(0.4, hue=0.1)]
LOCAL = [transforms.RandomResizedCrop(12, scale=(0.05, 0.32))]
VIEWS = {"second": CROP, "local_0": LOCAL, "local_1": LOCAL}


def hashes(loader, views):
    """The SHA-256 of each (record, epoch, view)."""
    found = {}
    for epoch in range(2):
        for batch in loader:
            for view in ("images", *views):
                for place, record in enumerate(batch.records.tolist()):
                    found[record, epoch, view] = hashlib.sha256(batch[view][place].tobytes()).hexdigest()
    return found


def settings(**given):
    return {"batch_size": 4, "transform": CROP, "shuffle": True, "seed": 3, "epochs": 2, **given}


def test_rule_48_a_view_is_a_column_of_its_own_size_and_type(jpegs):
    views = {
        "local": {"transform": LOCAL, "layout": "NCHW", "dtype": "float32"},
        "half": {"size": 10, "dtype": "float16"},
        "plain": LOCAL,
    }
    with forebay.Loader(jpegs, **settings(views=views, epochs=1)) as loader:
        batches = [batch.copy() for batch in loader]
    first = batches[0]
    assert first.columns[-3:] == ("local", "half", "plain")
    assert (first.images.shape, first.images.dtype) == ((4, 24, 24, 3), np.uint8)
    assert (first.local.shape, first.local.dtype) == ((4, 3, 12, 12), np.float32)
    assert (first.half.shape, first.half.dtype) == ((4, 10, 10, 3), np.float16)
    assert (first.plain.shape, first.plain.dtype) == ((4, 12, 12, 3), np.uint8)
    assert 0 <= first.local.min() < first.local.max() <= 1
    assert all(batch.validity(name).all() for batch in batches for name in views)


def test_rule_48_without_random_choices_a_view_is_what_another_loader_has_as_images(jpegs):
    views = {"wide": [transforms.Resize((20, 40))], "middle": [transforms.CenterCrop(16)]}
    with forebay.Loader(jpegs, **settings(views=views, epochs=1)) as loader:
        found = {r: (b.wide[p].copy(), b.middle[p].copy()) for b in loader for p, r in enumerate(b.records.tolist())}
    for number, steps in enumerate(views.values()):
        with forebay.Loader(jpegs, batch_size=4, transform=steps, epochs=1) as loader:
            for batch in loader:
                for place, record in enumerate(batch.records.tolist()):
                    assert np.array_equal(found[record][number], batch.images[place])


def test_rule_48_views_depend_neither_on_threads_nor_on_other_views_nor_on_a_cache(jpegs):
    with forebay.Loader(jpegs, **settings(views=VIEWS, num_threads=1)) as loader:
        expected = hashes(loader, VIEWS)
    assert len(expected) == 12 * 2 * 4
    assert len(set(expected.values())) == len(expected), "no two views are the same"
    cache = {"keep": "decoded", "memory": "20mb"}
    for given in ({"num_threads": 4}, {"num_threads": 16}, {"cache": cache}, {"batch_size": 3}):
        with forebay.Loader(jpegs, **settings(views=VIEWS, **given)) as loader:
            assert hashes(loader, VIEWS) == expected, given
    for views in ({}, {"local_1": LOCAL}, {"local_1": LOCAL, "other": LOCAL}):
        with forebay.Loader(jpegs, **settings(views=views, num_threads=2)) as loader:
            found = hashes(loader, views)
        assert {key: value for key, value in found.items() if key[2] != "other"} == {
            key: value for key, value in expected.items() if key[2] in ("images", *views)
        }


@pytest.mark.parametrize("ranks", [2, 3])
def test_rule_48_views_are_the_same_with_any_number_of_ranks(jpegs, ranks):
    with forebay.Loader(jpegs, **settings(views=VIEWS)) as loader:
        expected = hashes(loader, VIEWS)
    found = {}
    for rank in range(ranks):
        shard = forebay.Shard(rank, ranks, pad_last_batch=False)
        with forebay.Loader(jpegs, **settings(views=VIEWS, sharding=shard)) as loader:
            found.update(hashes(loader, VIEWS))
    assert found == expected


def test_rule_48_views_are_the_same_after_a_kill(jpegs):
    with forebay.Loader(jpegs, **settings(views=VIEWS)) as loader:
        expected = hashes(loader, VIEWS)
    with forebay.Loader(jpegs, **settings(views=VIEWS)) as loader:
        first = loader.next().copy()
        (daemon,) = private_daemons()
        os.kill(daemon, signal.SIGKILL)
        wait_until(lambda: private_daemons() != [daemon])
        found = hashes(loader, VIEWS)
        for view in ("images", *VIEWS):
            for place, record in enumerate(first.records.tolist()):
                found[record, 0, view] = hashlib.sha256(first[view][place].tobytes()).hexdigest()
    assert found == expected


def test_rule_48_a_bad_record_s_place_has_the_views_of_its_replacement(jpegs):
    files = sorted(jpegs.glob("*/*"))
    files[5].write_bytes(files[5].read_bytes()[:200])
    views = {"middle": [transforms.CenterCrop(16)]}
    with forebay.Loader(jpegs, batch_size=4, size=24, views=views, on_error="replace", epochs=1) as loader:
        for batch in loader:
            for place in np.flatnonzero(~batch.mask):
                twins = np.flatnonzero(batch.mask & (batch.records == batch.records[place]))
                assert len(twins) == 1
                assert np.array_equal(batch.middle[place], batch.middle[twins[0]])
                assert batch.validity("middle")[place]


def test_rule_49_a_trainer_of_a_stream_names_the_views_that_it_reads(jpegs, service):
    table = {name: {"transform": [step.to_settings() for step in steps]} for name, steps in VIEWS.items()}
    daemon = service(jpegs, batch_size=4, size=24, views=table)
    with forebay.Loader(
        "stream:train", socket=daemon.socket, targets=forebay.Targets(columns=["images", "local_1"])
    ) as loader:
        batch = loader.next()
        assert set(batch.columns) >= {"images", "local_1"}
        assert "local_0" not in batch.columns
    with pytest.raises(SettingsError, match='the stream has no column "local_7"'):
        forebay.Loader("stream:train", socket=daemon.socket, targets=forebay.Targets(columns=["local_7"]))
    with pytest.raises(SettingsError, match=r"views: is .*, but the stream has"):
        forebay.Loader("stream:train", socket=daemon.socket, views={"local_0": LOCAL})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"views": {"local": []}}, r"views\.local\.transform"),
        ({"views": {"images": LOCAL}}, r"views\.images: has the keys of the stream itself"),
        ({"views": {"local": {"fill": [0, 0, 0], "size": 8}}}, r"views\.local\.fill: is not a key"),
        ({"views": {"local": LOCAL}, "reducing_gap": 2.0}, "views: cannot be combined with reducing_gap or fast"),
        ({"views": {f"v{number}": LOCAL for number in range(17)}}, "at most 16 are allowed beside images"),
        ({"views": {"labels": LOCAL}}, 'the name "labels" is taken'),
        ({"views": {"a b": LOCAL}}, '"a b" cannot be the name of a column'),
        ({"views": LOCAL}, "give a dict of names and lists"),
    ],
)
def test_rule_48_views_that_cannot_be_are_refused_in_words(jpegs, given, words):
    with pytest.raises(SettingsError, match=words):
        forebay.Loader(jpegs, **settings(**given))


def test_rule_49_two_groups_with_other_views_share_one_decode(jpegs, service):
    table = {name: {"transform": [step.to_settings() for step in steps]} for name, steps in VIEWS.items()}
    daemon = service(jpegs, batch_size=4, size=24, views=table, epochs=2, groups="each")

    def attach(group, columns):
        return forebay.Loader(
            "stream:train", socket=daemon.socket, group=group, targets=forebay.Targets(columns=columns), join="epoch"
        )

    seen = []
    with contextlib.ExitStack() as attached:
        whole = attached.enter_context(attach("whole", ["images"]))
        first = whole.next().valid
        # This group comes within the first epoch, and begins with the second one.
        local = attached.enter_context(attach("local", ["local_0"]))
        first += sum(batch.valid for batch in whole)
        while len(seen) < first:
            one, other = whole.next(), local.next()
            assert ("local_0" in one.columns, "local_0" in other.columns) == (False, True)
            assert one.records.tolist() == other.records.tolist()
            seen += other.records.tolist()
        # Everything is decoded by now. The metrics are renewed every few seconds.
        metrics = daemon.socket.with_name("metrics.sock")
        wait_until(lambda: pictures_decoded(metrics) >= first + len(seen))
        assert pictures_decoded(metrics) == first + len(seen)
    assert sorted(seen) == list(range(len(seen)))


def pictures_decoded(socket_path):
    """How many pictures a daemon has decoded, as its metrics say."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(socket_path))
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        text = connection.makefile().read()
    return sum(int(count) for count in re.findall(r"^forebay_pictures_decoded_total\{.*\} (\d+)$", text, re.MULTILINE))
