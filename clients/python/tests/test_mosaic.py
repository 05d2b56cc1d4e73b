"""Mosaics beside a reference of our own, with the conventions of Ultralytics and YOLOX, and the same everywhere."""

import hashlib
import json

import forebay
import numpy as np
import pytest
from forebay import recipes, transforms
from png import write_png
from test_replay import replayed, table

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

RECORDS = 24
SIDE = 96
STEPS = [transforms.Mosaic(SIDE), transforms.RandomHorizontalFlip()]
GIVEN = {"transform": STEPS, "seed": 11, "shuffle": True}
WORD = (1 << 64) - 1


def _absorb(state, word):
    """The hash of `pixels/src/draw.rs`, whose vectors `pixels/tests/draw.rs` pins."""
    mixed = (((state << 23 | state >> 41) & WORD) + word + 0x9E3779B97F4A7C15) & WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & WORD
    return mixed ^ mixed >> 31


class _Draws:
    """The draws of a transform."""

    def __init__(self, *key):
        self.key = 0
        for word in key:
            self.key = _absorb(self.key, word)

    def between(self, number, low, high):
        return low + (high - low) * (_absorb(self.key, number) >> 11) / (1 << 53)

    def partner(self, number, records):
        return _absorb(_absorb(_absorb(self.key, WORD), number), 0) * records >> 64


def _mosaic(record, epoch, sizes):
    """Each picture's record, its place in the result if nothing hid it, the part that is not hidden, and its scale.

    As in Ultralytics' `Mosaic` and `RandomPerspective`, and in YOLOX's `MosaicDetection`: four pictures that fit into
    SIDE have a corner at (xc, yc) of a canvas with sides of 2 * SIDE. The canvas is scaled about its middle, which is
    then moved to the middle of the result and up to a tenth of SIDE beyond.
    """
    draws = _Draws(11, epoch, record, 0)
    xc, yc = (SIDE * draws.between(number, 0.5, 1.5) for number in (1, 2))
    scale = draws.between(3, 0.5, 1.5)
    moved = [SIDE * (0.5 + draws.between(number, -0.1, 0.1)) for number in (4, 5)]
    found = []
    for quarter in range(4):
        shown = record if quarter == 0 else draws.partner(quarter - 1, len(sizes))
        width, height = sizes[shown]
        fit = min(SIDE / width, SIDE / height)
        left = xc if quarter % 2 else xc - width * fit
        top = yc if quarter // 2 else yc - height * fit
        begin = [(corner - SIDE) * scale + by for corner, by in zip((left, top), moved)]
        point = [(corner - SIDE) * scale + by for corner, by in zip((xc, yc), moved)]
        canvas = [(by - SIDE * scale, by + SIDE * scale) for by in moved]
        part = []
        for axis, is_after in enumerate((quarter % 2, quarter // 2)):
            length = (width, height)[axis] * fit * scale
            low, high = (point[axis], SIDE) if is_after else (0, point[axis])
            part.append(
                (max(begin[axis], canvas[axis][0], low, 0), min(begin[axis] + length, canvas[axis][1], high, SIDE))
            )
        found.append((shown, begin, part, fit * scale))
    flipped = _Draws(11, epoch, record, 1).between(0, 0, 1) < 0.5
    return found, flipped


def _colour(record):
    return np.array([10 + 9 * record, 250 - 7 * record, 40 + 3 * record], np.uint8)


@pytest.fixture
def dataset(tmp_path):
    """Pictures of one colour each, two boxes in each, and masks of their numbers."""
    random = np.random.default_rng(3)
    images, annotations, boxes = [], [], []
    for number in range(RECORDS):
        width, height = (int(side) for side in random.integers(30, 200, 2))
        pixels = np.broadcast_to(_colour(number), (height, width, 3))
        (tmp_path / f"{number:02}.ppm").write_bytes(b"P6 %d %d 255\n" % (width, height) + pixels.tobytes())
        write_png(tmp_path / "masks" / f"{number:02}.png", np.full((height, width), number + 1, np.uint8))
        images.append({"id": number, "file_name": f"{number:02}.ppm", "width": width, "height": height})
        boxes.append([[0, 0, width, height], [width / 4, height / 5, width / 2, height / 2]])
        for box in boxes[-1]:
            part = {"id": len(annotations), "image_id": number, "category_id": number + 1, "iscrowd": 0}
            annotations.append({**part, "bbox": box, "area": 1.0})
    categories = [{"id": number + 1, "name": f"thing {number}"} for number in range(RECORDS)]
    document = {"images": images, "annotations": annotations, "categories": categories}
    file = tmp_path / "boxes.json"
    file.write_text(json.dumps(document))
    return f"coco:{file}", tmp_path, [(image["width"], image["height"]) for image in images], boxes


def _expected(pictures, flipped, boxes):
    """The boxes of a result, of which more than a pixel is left, with their record."""
    found = []
    for shown, begin, part, scale in pictures:
        for x, y, width, height in boxes[shown]:
            corners = []
            for axis, (first, length) in enumerate(((x, width), (y, height))):
                ends = begin[axis] + first * scale, begin[axis] + (first + length) * scale
                corners.append([min(max(end, part[axis][0]), part[axis][1]) for end in ends])
            (left, right), (top, below) = corners
            if flipped:
                left, right = SIDE - right, SIDE - left
            if right - left > 1 and below - top > 1:
                found.append((shown, [left, top, right, below]))
    return found


def test_rule_45_four_pictures_with_their_boxes_and_masks_are_where_the_published_code_lays_them(dataset):
    source, folder, sizes, boxes = dataset
    settings = {
        **GIVEN,
        "targets": forebay.Targets(
            masks={"seg": str(folder / "masks")}, mask_fill=0, columns=["boxes", "classes", "seg"]
        ),
    }
    compared = points = 0
    with forebay.Loader(source, batch_size=5, epochs=2, **settings) as loader:
        for epoch in range(2):
            for batch in loader:
                for place, record in enumerate(batch.records.tolist()):
                    pictures, flipped = _mosaic(record, epoch, sizes)
                    expected = _expected(pictures, flipped, boxes)
                    classes = np.asarray(batch.classes[place])
                    found = [
                        (int(of), box)
                        for of, box in zip(classes, np.asarray(batch.boxes[place]).tolist())
                        if box[2] - box[0] > 3.5 and box[3] - box[1] > 3.5
                    ]
                    for of, box in found:
                        beside = [np.abs(np.subtract(box, corners)).max() for shown, corners in expected if shown == of]
                        assert beside, f"record {record}: {of} {box} of {expected}"
                        assert min(beside) < 1.6, f"record {record}: {of} {box} of {expected}"
                        compared += 1
                    large = [box for _, box in expected if box[2] - box[0] > 6 and box[3] - box[1] > 6]
                    assert len(large) <= len(found) <= len(expected), f"record {record}"
                    for shown, _, ((left, right), (top, below)), _ in pictures:
                        if right - left < 4 or below - top < 4:
                            continue
                        x, y = int((left + right) / 2), int((top + below) / 2)
                        x = SIDE - 1 - x if flipped else x
                        assert np.array_equal(batch.images[place, y, x], _colour(shown)), f"record {record}"
                        assert batch.seg[place, y, x] == shown + 1
                        points += 1
        assert all(entry.adds_up and entry.delivered == RECORDS for entry in loader.audit())
    assert compared > 4 * RECORDS
    assert points > 4 * RECORDS


def _sums(batch, epoch, into):
    for place, record in enumerate(batch.records.tolist()):
        if batch.mask[place]:
            boxes = np.asarray(batch.boxes[place]).tobytes()
            into[epoch, record] = hashlib.sha256(batch.images[place].tobytes() + boxes).hexdigest()


def _all(source, **settings):
    found = {}
    with forebay.Loader(source, epochs=2, **{**GIVEN, **settings}) as loader:
        for epoch in range(2):
            for batch in loader:
                _sums(batch, epoch, found)
    return found


def test_rule_08_a_mosaic_is_the_same_with_any_batches_threads_and_shards_and_in_a_replay(dataset, binary, tmp_path):
    source = dataset[0]
    first = _all(source, batch_size=4)
    assert len(first) == 2 * RECORDS
    assert len(set(first.values())) == 2 * RECORDS
    assert _all(source, batch_size=7, num_threads=1) == first
    parts = {}
    for shard in range(3):
        parts.update(_all(source, batch_size=2, sharding=forebay.Shard(shard, 3)))
    assert parts == first
    sets = ["shuffle=true", "seed=11", f"transform={table(STEPS)}"]
    arguments = [source, *(each for pair in sets for each in ("--set", pair))]
    with forebay.Loader(source, batch_size=4, epochs=1, **GIVEN) as loader:
        for batch in loader:
            for place, record in enumerate(batch.records.tolist()):
                found = replayed(binary, tmp_path, *arguments, record=record, epoch=0)
                assert np.array_equal(found["images"], batch.images[place])


def test_rule_16_mosaics_are_the_same_after_the_daemon_was_killed(dataset, service):
    source = dataset[0]
    undisturbed = _all(source, batch_size=4)
    daemon = service(
        source, batch_size=4, transform=[step.to_settings() for step in STEPS], seed=11, shuffle=True, epochs=2
    )
    found = {}
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        for epoch in range(2):
            for number, batch in enumerate(loader):
                if number == 2:
                    daemon.kill()
                    daemon.start()
                _sums(batch, epoch, found)
        assert all(entry.adds_up and entry.delivered == RECORDS for entry in loader.audit())
    assert found == undisturbed


def test_rule_07_a_bad_partner_is_quarantined_only_by_its_own_place(dataset):
    source, folder, sizes, _ = dataset
    bad = {3, 5, 8, 12, 17, 20}
    for number in bad:
        file = folder / f"{number:02}.ppm"
        file.write_bytes(file.read_bytes()[:40])
    stood_in = 0
    with forebay.Loader(source, batch_size=4, epochs=1, on_error="skip", **GIVEN) as loader:
        seen = set()
        for batch in loader:
            images = np.array(batch.images)
            for place, record in enumerate(batch.records.tolist()):
                seen.add(record)
                pictures, flipped = _mosaic(record, 0, sizes)
                for shown, _, ((left, right), (top, below)), _ in pictures:
                    if shown in bad:
                        stood_in += 1
                        # The own picture has another size, so it need not reach the middle of the bad one's part.
                        assert not (images[place] == _colour(shown)).all(axis=2).any()
                    elif right - left >= 4 and below - top >= 4:
                        x, y = int((left + right) / 2), int((top + below) / 2)
                        x = SIDE - 1 - x if flipped else x
                        assert np.array_equal(images[place, y, x], _colour(shown))
        assert seen == set(range(RECORDS)) - bad
        assert loader.audit()[0].adds_up
    assert stood_in > 3


def test_what_a_mosaic_cannot_be_combined_with_is_refused(dataset):
    source = dataset[0]
    view = {"second": [transforms.Resize((8, 8))]}
    for given, words in [
        ({"views": view}, "views: cannot be combined with a mosaic"),
        (
            {"targets": forebay.Targets(columns=[]), "mixing": transforms.MixUp()},
            "mixing: cannot be combined with a mosaic",
        ),
        ({"cache": {"keep": "decoded", "memory": "20mb"}}, "cache: cannot be combined with a mosaic"),
    ]:
        with pytest.raises(forebay.SettingsError, match=words):
            forebay.Loader(source, batch_size=4, **GIVEN, **given)


def test_the_recipe_yolo_is_a_mosaic_with_other_colours(dataset):
    source = dataset[0]
    named = {"recipe": {"name": "yolo", "imgsz": SIDE}, "seed": 11, "shuffle": True}
    by_name = {}
    with forebay.Loader(source, batch_size=4, epochs=1, **named) as loader:
        for batch in loader:
            _sums(batch, 0, by_name)
    by_list = _all(source, batch_size=4, transform=recipes.yolo(SIDE))
    assert by_name == {key: found for key, found in by_list.items() if key[0] == 0}
