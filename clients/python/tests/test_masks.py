"""Masks as columns of a batch, from PNG files to a trainer."""

import forebay
import numpy as np
import pytest
from forebay import transforms
from masked import MASKS, TARGETS, numbers_of, write_masked
from png import write_png

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture
def dataset(tmp_path):
    """The folder of a dataset with masks."""
    write_masked(tmp_path)
    return tmp_path


def test_rule_45_masks_of_every_type_are_where_the_pixels_are(dataset):
    # Without a resize, a pixel's colours say where it was.
    steps = [transforms.CenterCrop((20, 50)), transforms.RandomHorizontalFlip(0.5)]
    with forebay.Loader(
        dataset / "JPEGImages",
        batch_size=3,
        transform=steps,
        targets=TARGETS,
        seed=2,
        epochs=1,
    ) as loader:
        batches = [batch.copy() for batch in loader]
    flipped = set()
    for batch in batches:
        assert [batch[name].dtype for name in MASKS] == [np.uint8, np.uint16, np.int32]
        assert batch.seg.shape == (3, 20, 50)
        for place, record in enumerate(batch.records.tolist()):
            # The crop is wider than the picture: the rest is border.
            there = np.zeros((20, 50), bool)
            there[:, 5:45] = True
            columns, rows = (batch.images[place, :, :, channel] for channel in (0, 1))
            flipped.add(bool(columns[5, 10] > columns[5, 20]))
            is_present = record != 4
            assert [batch.validity(name)[place] for name in MASKS] == [is_present] * 3
            if not is_present:
                assert (batch.seg[place] == 255).all()
                assert (batch.depth[place] == 65535).all()
                assert (batch.ids[place] == 0).all()
                continue
            expected = numbers_of(record)[rows[there], columns[there]].astype(np.int64)
            assert np.array_equal(batch.seg[place][there], expected)
            assert np.array_equal(batch.depth[place][there], expected * 257)
            assert np.array_equal(batch.ids[place][there], expected + 2 * 256 + 65536)
            assert (batch.seg[place][:, :5] == 255).all()
            assert (batch.ids[place][:, -5:] == 0).all()
    assert flipped == {False, True}


def test_rule_45_a_stream_names_its_masks_as_other_columns_and_fills_them_as_it_is_told(dataset):
    settings = {"batch_size": 6, "transform": transforms.CenterCrop((40, 40)), "epochs": 1}
    bare = forebay.Targets(masks={"seg": "../SegmentationClass"}, columns=[])
    with forebay.Loader(dataset / "JPEGImages", targets=bare, **settings) as loader:
        (batch,) = loader
        assert batch.columns == ("images", "labels", "records", "mask")
    filled = forebay.Targets(masks={"seg": "../SegmentationClass"}, mask_fill=9)
    with forebay.Loader(dataset / "JPEGImages", targets=filled, **settings) as loader:
        (batch,) = loader
        assert (batch.seg[0, :5] == 9).all()
        assert np.array_equal(batch.seg[0, 5:35], numbers_of(0))


@pytest.mark.parametrize("keep", ["encoded", "decoded"])
def test_rule_45_masks_of_records_from_a_cache_are_the_same(dataset, keep):
    crop = transforms.RandomResizedCrop(16, scale=(0.2, 1.0))
    targets = forebay.Targets(masks={"seg": "../SegmentationClass"})
    settings = {"batch_size": 6, "transform": crop, "targets": targets, "epochs": 3, "seed": 5}

    def seen(**more):
        with forebay.Loader(dataset / "JPEGImages", **settings, **more) as loader:
            return [batch.seg.copy() for _ in range(3) for batch in loader]

    without, cached = seen(), seen(cache={"keep": keep, "memory": "16mb"})
    assert len(without) == 3
    assert all(np.array_equal(*pair) for pair in zip(without, cached))
    assert not np.array_equal(without[0], without[1]), "each epoch cuts another part"


def test_rule_7_a_mask_that_is_not_as_large_as_its_picture_makes_a_bad_record(dataset):
    write_png(dataset / "SegmentationClass" / "2.png", numbers_of(2)[1:])
    targets = forebay.Targets(masks={"seg": "../SegmentationClass"})
    settings = {"batch_size": 2, "size": 8, "targets": targets, "epochs": 1}
    with (
        forebay.Loader(dataset / "JPEGImages", **settings) as loader,
        pytest.raises(forebay.RecordError, match=r'mask "seg": it has \(40, 29\) pixels.*\(40, 30\)'),
    ):
        list(loader)
    with forebay.Loader(dataset / "JPEGImages", on_error="skip", **settings) as loader:
        records = [record for batch in loader for record in batch.records.tolist()]
    assert sorted(records) == [0, 1, 3, 4, 5]


def test_masks_that_are_not_there_are_refused_by_name(dataset):
    with pytest.raises(forebay.DatasetError, match=r'masks\.seg = "nowhere"'):
        forebay.Loader(dataset / "JPEGImages", batch_size=2, size=8, targets=forebay.Targets(masks={"seg": "nowhere"}))


def test_rule_59_a_function_of_batches_changes_masks(dataset, tmp_path, monkeypatch):
    folder = tmp_path / "steps"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    code = "def changes(batch):\n    batch.seg[...] = batch.seg // 2\n    batch.depth[batch.validity('depth')] += 1\n"
    (folder / "my_masks.py").write_text(code)
    targets = forebay.Targets(masks={"seg": "../SegmentationClass", "depth": "../depth"})
    settings = {"batch_size": 4, "targets": targets, "epochs": 1, "seed": 5, "last_batch_policy": "partial"}
    crop = transforms.RandomResizedCrop(16, scale=(0.2, 1.0))
    with forebay.Loader(dataset / "JPEGImages", transform=crop, **settings) as loader:
        plain = [batch.copy() for batch in loader]
    steps = [crop, transforms.Python("my_masks:changes", scope="batch")]
    with forebay.Loader(dataset / "JPEGImages", transform=steps, **settings) as loader:
        made = [batch.copy() for batch in loader]
    for before, batch in zip(plain, made, strict=True):
        has = before.validity("depth")
        assert np.array_equal(batch.validity("depth"), has)
        assert np.array_equal(batch.seg, before.seg // 2)
        assert np.array_equal(batch.depth, before.depth + has[:, None, None].astype(np.uint16))
    assert sum(batch.validity("depth").sum() for batch in made) == 5
