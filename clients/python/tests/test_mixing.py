"""Mixed batches: which pictures are mixed, by which weight, and what trainers get of it."""

import forebay
import numpy as np
import pytest
from forebay import transforms
from forebay.errors import SettingsError
from png import write_png

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SIDE = 8


@pytest.fixture
def dataset(tmp_path):
    """Ten pictures of three classes, each of one brightness."""
    for record in range(10):
        file = tmp_path / "pictures" / f"class{record % 3}" / f"{record:02}.ppm"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_bytes(b"P6 %d %d 255\n" % (SIDE, SIDE) + bytes([20 * record]) * (SIDE * SIDE * 3))
    return tmp_path / "pictures"


def batches(dataset, **given):
    steps = [transforms.CenterCrop(SIDE)]
    with forebay.Loader(dataset, batch_size=4, transform=steps, epochs=1, **given) as loader:
        found = [batch.copy() for batch in loader]
        assert all(epoch.adds_up for epoch in loader.audit())
    return found


def plain(dataset):
    """The value of each record's picture, and its label."""
    found = batches(dataset)
    values, labels = {}, {}
    for batch in found:
        values.update(zip(batch.records.tolist(), batch.images[:, 0, 0, 0].astype(float)))
        labels.update(zip(batch.records.tolist(), batch.labels.tolist()))
    return values, labels


def test_rule_50_each_picture_is_mixed_with_the_one_before_it_and_records_and_labels_stay(dataset):
    values, labels = plain(dataset)
    for mixing in (transforms.MixUp(0.4), transforms.CutMix(), transforms.RandomChoice([transforms.MixUp()])):
        found = batches(dataset, mixing=mixing, seed=5)
        assert sorted(np.concatenate([batch.records for batch in found]).tolist()) == list(range(10))
        assert {"mixed_labels", "mix"} <= set(found[0].columns)
        assert found[0].mix.dtype == np.float32
        for batch in found:
            records = batch.records.tolist()
            for place, record in enumerate(records):
                other, weight = records[place - 1], float(batch.mix[place])
                assert (batch.labels[place], batch.mixed_labels[place]) == (labels[record], labels[other])
                mean = values[record] * weight + values[other] * (1 - weight)
                # A rectangle keeps whole pixels, so that the mean of the picture is that of the weight.
                assert abs(batch.images[place].mean() - mean) < 0.51


def test_rule_50_one_batch_may_have_one_weight_and_a_seed_has_its_weights_again(dataset):
    each, again, other = (batches(dataset, mixing=transforms.MixUp(), seed=seed)[0] for seed in (1, 1, 2))
    assert len(set(each.mix.tolist())) == 4
    assert np.array_equal(each.mix, again.mix)
    assert np.array_equal(each.images, again.images)
    assert not np.array_equal(each.mix, other.mix)
    one = batches(dataset, mixing=forebay.Mixing(transforms.MixUp(), per_batch=True), seed=1)
    assert [len(set(batch.mix.tolist())) for batch in one] == [1, 1, 1]
    assert one[0].mix[0] == each.mix[0]


def test_rule_50_soft_labels_have_the_weights_of_both_labels(dataset):
    for batch in batches(dataset, mixing=transforms.CutMix(), seed=3):
        soft = batch.soft_labels(5)
        assert soft.shape == (len(batch.records), 5)
        assert soft.dtype == np.float32
        expected = np.zeros(soft.shape)
        for place in range(len(soft)):
            expected[place, batch.labels[place]] += batch.mix[place]
            expected[place, batch.mixed_labels[place]] += 1 - batch.mix[place]
        assert np.allclose(soft, expected, atol=1e-6)
        assert np.allclose(batch.soft_labels(5, 0.1), 0.9 * expected + 0.02, atol=1e-6)
    (first, *_, last) = batches(dataset)
    with pytest.raises(ValueError, match="label 2 is not below num_classes=2"):
        last.soft_labels(2)
    assert np.array_equal(first.soft_labels(3), np.eye(3, dtype=np.float32)[first.labels])
    (bare, *_) = batches(dataset, targets=forebay.Targets(labels="none"))
    assert not bare.soft_labels(3, 0.5).any()


def test_rule_50_what_cannot_be_mixed_is_refused_in_words(dataset, tmp_path):
    for given, words in (
        ({"mixing": transforms.MixUp(0)}, r"alpha is 0, but must be from 0\.001 to 1000"),
        ({"mixing": transforms.RandomInvert()}, "unknown variant `random_invert`"),
        ({"mixing": "mixup"}, "give MixUp, CutMix or a RandomChoice of them"),
        ({"mixing": forebay.Mixing("mixup")}, "give MixUp, CutMix or a RandomChoice of them"),
    ):
        with pytest.raises(SettingsError, match=words):
            batches(dataset, **given)
    for record in range(10):
        mask = tmp_path / "masks" / f"class{record % 3}" / f"{record:02}.png"
        write_png(mask, np.zeros((SIDE, SIDE), np.uint8), palette=True)
    with pytest.raises(SettingsError, match='column "mask0" has places in the picture'):
        batches(dataset, targets=forebay.Targets(masks={"mask0": str(tmp_path / "masks")}), mixing=transforms.MixUp())
