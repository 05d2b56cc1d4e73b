"""Boxes of every format that can hold them: the same boxes give what those of a COCO set give under the same recipe."""

import forebay
import numpy as np
import pytest
from annotated_sets import FORMATS, HEIGHT, WIDTH, Annotated, coco
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def records(*, empty):
    """Pictures whose pixels say where they are, with boxes whose fractions are exact in binary."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    random = np.random.default_rng(7)
    found = []
    for number in range(12):
        pixels = np.stack([columns, rows, np.full_like(rows, 20 * number)], axis=-1).astype(np.uint8)
        count = 0 if empty and number % 5 == 2 else 1 + number % 3
        boxes, classes = [], []
        for _ in range(count):
            left, top = random.integers(0, 5) * 15, random.integers(0, 5) * 10
            right, bottom = left + 15 * random.integers(1, 4), top + 10 * random.integers(1, 4)
            boxes.append([float(left), float(top), float(right), float(bottom)])
            classes.append(int(random.integers(0, 3)))
        found.append(Annotated(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + pixels.tobytes(), boxes, classes))
    return found


def delivered(arguments, steps, **settings):
    """What each record has in each epoch: its picture, its boxes and their classes."""
    found = {}
    settings = {"seed": 11, "epochs": 2, "batch_size": 5, "shuffle": True, **settings}
    with forebay.Loader(arguments.pop("source"), transform=steps, **settings, **arguments) as loader:
        for epoch in range(2):
            for batch in loader:
                for place, record in enumerate(batch.records.tolist()):
                    boxes = np.array(batch.boxes[place]).reshape(-1, 4)
                    classes = np.array(batch.classes[place]).tolist()
                    found[epoch, record] = (batch.images[place].copy(), boxes, classes)
    return found


RECIPES = {
    "crops of boxes, mirrored": [
        transforms.RandomIoUCrop(),
        transforms.RandomHorizontalFlip(0.5),
        transforms.Resize((64, 96)),
    ],
    "crops": [transforms.RandomResizedCrop((48, 64), scale=(0.2, 1.0)), transforms.RandomHorizontalFlip(0.5)],
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", FORMATS)
def test_rule_45_boxes_of_each_format_follow_their_picture_as_those_of_a_coco_set_do(tmp_path, name, recipe):
    written = records(empty=name != "MDS with arrays")
    for folder in ("coco", "other"):
        (tmp_path / folder).mkdir()
    expected = delivered(coco(tmp_path / "coco", written), RECIPES[recipe])
    found = delivered(FORMATS[name](tmp_path / "other", written), RECIPES[recipe])
    assert found.keys() == expected.keys()
    for key, (image, boxes, classes) in expected.items():
        assert np.array_equal(found[key][0], image)
        np.testing.assert_allclose(found[key][1], boxes, atol=1e-3)
        assert found[key][2] == classes
    # The recipe has moved boxes, and has dropped some.
    whole = {record: (written[record].boxes, written[record].classes) for _, record in expected}
    assert any(len(classes) < len(whole[record][1]) for (_, record), (*_, classes) in expected.items())
    moved = [key for key, (_, boxes, _) in expected.items() if len(boxes) and boxes.tolist() != whole[key[1]][0]]
    assert len(moved) > 12


def test_rule_45_boxes_that_are_said_to_be_no_boxes_stay_as_they_are(tmp_path):
    written = records(empty=False)
    arguments = FORMATS["tfrecord"](tmp_path, written)
    source = forebay.Source(arguments.pop("source"), roles={"boxes": "none"})
    found = delivered({**arguments, "source": source}, RECIPES["crops"])
    for (_, record), (_, boxes, classes) in found.items():
        np.testing.assert_allclose(boxes, written[record].fractions(), rtol=1e-6)
        assert classes == written[record].classes


def test_rule_45_a_role_that_a_column_cannot_have_is_refused_by_name(tmp_path):
    arguments = FORMATS["tar with JSON"](tmp_path, records(empty=True))
    for roles, words in ({"boxes": "squares"}, "roles.boxes"), ({"boxing": "xyxy"}, "roles.boxing"):
        source = forebay.Source(arguments["source"].url, roles=roles)
        with pytest.raises(forebay.DatasetError, match=words):
            forebay.Loader(**{**arguments, "source": source}, batch_size=2, size=32)
