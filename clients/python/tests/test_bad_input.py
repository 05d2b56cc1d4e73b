"""Errors for wrong input name the file or the key, and say what to do."""

import forebay
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def refused(kind, source, *words, **settings):
    with pytest.raises(kind) as raised:
        forebay.Loader(source, **{"batch_size": 2, "size": 8, **settings})
    for word in words:
        assert str(word) in str(raised.value)


def first_error(loader):
    with loader, pytest.raises(forebay.RecordError) as raised:
        for _ in loader:
            pass
    return str(raised.value)


def test_a_folder_that_is_missing_empty_or_without_pictures(tmp_path):
    refused(forebay.DatasetError, tmp_path / "nowhere", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    refused(forebay.DatasetError, tmp_path / "empty", tmp_path / "empty")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "notes.txt").write_text("no picture")
    refused(forebay.DatasetError, tmp_path / "texts", tmp_path / "texts")


def test_csv_lines_that_are_wrong(pictures, tmp_path):
    pictures(2)
    table = tmp_path / "train.csv"
    table.write_text("pictures/00000.ppm,1\n,2\n")
    refused(forebay.DatasetError, table, "line 2", table)
    table.write_text("pictures/00000.ppm,1\npictures/00001.ppm,cat\n")
    refused(forebay.DatasetError, table, "line 2", "text")
    with forebay.Loader(table, batch_size=2, size=8, targets=forebay.Targets(labels="text")) as loader:
        assert loader.classes == ["1", "cat"]


def test_rule_12_dropping_every_epoch_without_end_is_refused_and_with_an_end_gives_no_batch(pictures):
    settings = {"batch_size": 8, "size": 8, "last_batch_policy": "drop"}
    with pytest.raises(forebay.SettingsError, match="no epoch would ever have a batch"):
        forebay.Loader(pictures(3), **settings)
    with forebay.Loader(pictures(3), epochs=2, **settings) as loader:
        assert [list(loader) for _ in range(3)] == [[], [], []]
        assert [(epoch.dropped, epoch.adds_up) for epoch in loader.audit()] == [(3, True), (3, True)]


def test_every_wrong_setting_is_named_at_once(pictures):
    refused(
        forebay.SettingsError, pictures(2), "last_batch_policy", "on_error", last_batch_policy="some", on_error="no"
    )


def test_rule_06_no_fixed_shape_is_refused(pictures):
    resize = [forebay.transforms.Resize(8)]
    refused(forebay.SettingsError, pictures(2), "transform", size=None, transform=resize)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("truncated", lambda data: data[: len(data) // 2]),
        ("no picture", lambda _: b"these are words, not pixels"),
        ("empty", lambda _: b""),
    ],
)
def test_a_bad_file_fails_skips_or_is_replaced(jpegs, name, damage):
    bad = sorted(jpegs.rglob("*.jpg"))[5]
    bad.write_bytes(damage(bad.read_bytes()))
    settings = {"batch_size": 4, "size": 32, "epochs": 1}
    assert str(bad) in first_error(forebay.Loader(jpegs, **settings)), name

    with forebay.Loader(jpegs, on_error="skip", **settings) as loader:
        seen = [record for batch in loader for record in batch.records[batch.mask].tolist()]
        assert sorted(seen) == [record for record in range(12) if record != 5]
        (quarantined,) = loader.quarantine
        assert (quarantined.record, quarantined.file) == (5, str(bad))
        assert quarantined.reason
        (audit,) = loader.audit()
        assert (audit.delivered, audit.quarantined, audit.adds_up) == (11, 1, True)

    with forebay.Loader(jpegs, on_error="replace", **settings) as loader:
        batches = [batch.copy() for batch in loader]
        assert [batch.mask.tolist().count(False) for batch in batches] == [0, 1, 0]
        assert [len(batch.images) for batch in batches] == [4, 4, 4]


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_rule_7_and_13_a_rank_with_a_lease_of_bad_records_takes_as_many_steps_as_the_others(pictures, on_error):
    folder = pictures(16, classes=2)
    # A lease has four batches. The second one of the first rank has no good record.
    for bad in sorted(folder.rglob("*.ppm"))[4:8]:
        bad.write_bytes(b"no picture")
    ranks = []
    for rank in range(2):
        shard = forebay.Shard(rank, 2, stick_to_shard=True)
        with forebay.Loader(folder, batch_size=1, size=8, epochs=2, on_error=on_error, sharding=shard) as loader:
            epochs = [[batch.copy() for batch in loader] for _ in range(2)]
            assert [len(epoch) for epoch in epochs] == [len(loader)] * 2 == [8, 8]
            counted = [(epoch.delivered, epoch.quarantined) for epoch in loader.audit()]
            assert counted == [(4, 4) if rank == 0 else (8, 0)] * 2
        ranks.append(epochs)
    for epoch in ranks[0]:
        assert [int(batch.records[0]) for batch in epoch] == [0, 1, 2, 3, -1, -1, -1, -1]
        for batch in epoch[4:]:
            # The batch is in its place, but nothing in it can be taken for a record.
            assert (batch.labels.tolist(), batch.mask.tolist(), batch.valid) == ([-1], [False], 0)
            assert batch.images.shape == (1, 8, 8, 3)
            assert not batch.images.any()


def test_a_bad_record_is_listed_once_with_its_epochs(jpegs):
    bad = sorted(jpegs.rglob("*.jpg"))[5]
    bad.write_bytes(b"")
    with forebay.Loader(jpegs, batch_size=4, size=32, epochs=3, on_error="skip") as loader:
        for _ in range(3):
            list(loader)
        (quarantined,) = loader.quarantine
        assert (quarantined.record, quarantined.file, quarantined.epochs) == (5, str(bad), (0, 1, 2))


def test_limits_that_errors_name_can_be_set(jpegs):
    assert "raise the limit" in first_error(
        forebay.Loader(jpegs, batch_size=4, size=32, config={"decode": {"pixel_limit": 100}})
    )
    assert "byte_limit" in first_error(
        forebay.Loader(jpegs, batch_size=4, size=32, config={"decode": {"byte_limit": "100b"}})
    )
    with forebay.Loader(
        jpegs,
        batch_size=4,
        size=32,
        config={"decode": {"pixel_limit": 10**9}, "stream": {"read_timeout": 5, "epoch_end_timeout": 5}},
    ) as loader:
        loader.next()
        with pytest.raises(forebay.SettingsError, match=r"pixel_limit.*100.*share one daemon"):
            forebay.Loader(jpegs, batch_size=4, size=32, config={"decode": {"pixel_limit": 100}})


def test_more_failures_than_allowed_fail_the_stream(jpegs):
    for bad in sorted(jpegs.rglob("*.jpg"))[2:5]:
        bad.write_bytes(b"")
    with forebay.Loader(jpegs, batch_size=4, size=32, epochs=1, on_error="skip", max_failures=3) as loader:
        assert sum(batch.valid for batch in loader) == 9
    first_error(forebay.Loader(jpegs, batch_size=4, size=32, epochs=1, on_error="skip", max_failures=2))


def test_a_missing_file_of_a_list_is_named(pictures, tmp_path):
    files = [*sorted(pictures(2).iterdir()), tmp_path / "gone.jpg"]
    with pytest.raises((forebay.DatasetError, forebay.RecordError), match=r"gone\.jpg"):
        list(forebay.Loader(files, batch_size=3, size=8))


def test_a_png_by_another_name_decodes(pictures):
    folder = pictures(1)
    picture = next(folder.iterdir())
    picture.rename(folder / "really-a-ppm.JPEG")
    with forebay.Loader(folder, batch_size=1, size=8) as loader:
        assert loader.next().images[0, 0, 0].tolist() == [0, 100, 200]
