"""Columns beside pictures and labels, from a dataset's annotations to a trainer."""

import json
import pickle

import forebay
import numpy as np
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# Boxes of each picture, as COCO has them: left, top, width, height.
BOXES = [[], [[1, 2, 3, 4]], [[0, 0, 2, 2], [4, 4, 4, 3]], [], [[0, 0, 8, 8]]]


@pytest.fixture
def coco(pictures):
    """Five pictures of 8 x 8 with their boxes, in a JSON of COCO's form."""
    folder = pictures(len(BOXES))
    images = [{"id": number, "file_name": f"{number:05}.ppm", "width": 8, "height": 8} for number in range(len(BOXES))]
    annotations = [
        {
            "id": 10 * image + place,
            "image_id": image,
            "category_id": 7,
            "bbox": box,
            "area": box[2] * box[3],
            "iscrowd": 0,
        }
        for image, boxes in enumerate(BOXES)
        for place, box in enumerate(boxes)
    ]
    file = folder.parent / "boxes.json"
    categories = [{"id": 7, "name": "cat"}]
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return f"coco:{file}?root={folder}"


def test_rule_45_each_place_has_the_columns_of_its_record(coco):
    # Whole pictures: boxes that a random crop does not show would be dropped.
    settings = {"transform": forebay.transforms.Resize((8, 8)), "shuffle": True, "seed": 3, "epochs": 1}
    with forebay.Loader(coco, batch_size=2, last_batch_policy="fill", **settings) as loader:
        seen = []
        for batch in loader:
            assert batch.columns == ("images", "labels", "records", "mask", "boxes", "classes", "crowd", "area")
            assert batch.boxes.values.dtype == np.float32
            assert [len(classes) for classes in batch["classes"]] == batch.boxes.lengths.tolist()
            for place, record in enumerate(batch.records.tolist()):
                assert batch.area[place].tolist() == [width * height for _, _, width, height in BOXES[record]]
            seen.extend(batch.records[batch.mask].tolist())
    assert sorted(seen) == list(range(len(BOXES)))


def test_rule_45_boxes_are_where_the_pixels_are(tmp_path):
    images, annotations, blocks = [], [], []
    for number in range(24):
        left, top, width, height = 10 + 2 * number, 5 + number, 40, 30
        picture = np.zeros((80, 120, 3), np.uint8)
        picture[top : top + height, left : left + width] = 255
        (tmp_path / f"{number:02}.ppm").write_bytes(b"P6 120 80 255\n" + picture.tobytes())
        images.append({"id": number, "file_name": f"{number:02}.ppm", "width": 120, "height": 80})
        # The second object is the picture's first pixel.
        for box in ([left, top, width, height], [0, 0, 1, 1]):
            part = {"id": len(annotations), "image_id": number, "category_id": 1, "iscrowd": 0}
            annotations.append({**part, "bbox": box, "area": box[2] * box[3]})
        blocks.append([left, top, left + width, top + height])
    categories = [{"id": 1, "name": "block"}]
    file = tmp_path / "blocks.json"
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    crop = forebay.transforms.RandomResizedCrop((48, 64), scale=(0.2, 1.0))
    settings = {"transform": [crop, forebay.transforms.RandomHorizontalFlip()], "shuffle": True, "seed": 5}
    source = f"coco:{file}?root={tmp_path}"
    compared = 0
    with forebay.Loader(source, batch_size=8, epochs=2, targets=forebay.Targets(min_visible=0.1), **settings) as loader:
        for _ in range(2):
            for batch in loader:
                for place, image in enumerate(batch.images):
                    boxes, areas = np.asarray(batch.boxes[place]), batch.area[place].tolist()
                    assert len(boxes) == len(areas)
                    if 1200 not in areas:
                        continue
                    rows, columns = np.nonzero(image[..., 0] > 127)
                    pixels = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
                    assert np.abs(boxes[areas.index(1200)] - pixels).max() <= 1
                    compared += 1
    assert compared > 24
    whole = forebay.transforms.Resize((80, 120))
    with forebay.Loader(source, batch_size=24, transform=whole) as loader:
        batch = next(iter(loader))
        first = [np.asarray(boxes)[0].tolist() for boxes in batch.boxes]
        assert first == [blocks[record] for record in batch.records]


def test_rule_47_a_loader_may_choose_its_columns(coco):
    with forebay.Loader(coco, batch_size=5, size=8, targets=forebay.Targets(columns=["boxes", "images"])) as loader:
        batch = next(iter(loader))
        assert batch.columns[4:] == ("boxes",)
        assert "boxes" in batch
        assert "area" not in batch
        with pytest.raises(TypeError, match="iterable"):
            list(batch)
        with pytest.raises(AttributeError, match="no column 'area'"):
            _ = batch.area
        with pytest.raises(KeyError, match="images, labels, records, mask, boxes"):
            batch["area"]
    with pytest.raises(forebay.SettingsError, match=r'no column "masks"; its columns are: images.* boxes, classes'):
        forebay.Loader(coco, batch_size=5, size=8, targets=forebay.Targets(columns=["masks"]))


def test_rule_47_a_trainer_of_a_stream_looks_at_some_columns(coco, service):
    socket = service(coco, batch_size=5, size=8).socket
    with forebay.Loader("train", socket=socket, targets=forebay.Targets(columns=["area"])) as loader:
        assert next(iter(loader)).columns[4:] == ("area",)
    with forebay.Loader("train", socket=socket) as loader:
        assert next(iter(loader)).columns[4:] == ("boxes", "classes", "crowd", "area")
    with pytest.raises(forebay.SettingsError, match='no column "masks"'):
        forebay.Loader("train", socket=socket, targets=forebay.Targets(columns=["masks"]))


def test_columns_get_the_names_that_the_loader_gives_them(coco):
    with forebay.Loader(
        coco, batch_size=5, size=8, targets=forebay.Targets(columns={"where": "boxes", "id": "image_ids"})
    ) as loader:
        batch = next(iter(loader))
        assert batch.columns[4:] == ("where", "id")
        assert batch.id.tolist() == [0, 1, 2, 3, 4]
        assert batch.validity("id").tolist() == [True] * 5
        assert batch.where.lengths.tolist() == [len(boxes) for boxes in BOXES]


def test_a_copy_has_its_own_columns_and_the_slot_goes_back(coco):
    with forebay.Loader(coco, batch_size=5, size=8, epochs=2) as loader:
        batch = next(iter(loader))
        kept, view = batch.copy(), batch.boxes
        batch.release()
        with pytest.raises(forebay.ClosedError):
            _ = batch.columns
        assert not hasattr(batch, "boxes")
        assert kept.columns[4:] == ("boxes", "classes", "crowd", "area")
        assert kept.boxes.tolist() == view.tolist()
        pickled = pickle.loads(pickle.dumps(kept))
        assert (pickled.columns, pickled.boxes.tolist()) == (kept.columns, kept.boxes.tolist())
        kept.boxes.values[:] = 0
        with pytest.raises(ValueError, match="read-only"):
            view.values[:] = 0


def test_an_unknown_option_of_a_source_is_refused_with_those_that_it_has(coco):
    with pytest.raises(forebay.DatasetError, match=r'no option "roof".*"root"'):
        forebay.Loader(forebay.Source(coco, roof="x"), batch_size=5, size=8)


def test_a_list_of_columns_names_parts_of_a_record_too(pictures):
    folder = pictures(3)
    names = [f"{number:05}.ppm" for number in range(3)]
    table = ["file_name,label,text,score", *(f"{name},{n},t{n},{n}.5" for n, name in enumerate(names))]
    (folder / "metadata.csv").write_text("\n".join(table))
    settings = {"batch_size": 3, "transform": forebay.transforms.Resize((8, 8)), "epochs": 1}
    with forebay.Loader(folder, targets=forebay.Targets(columns=["score", "text"]), **settings) as loader:
        (batch,) = loader
        assert batch.columns[4:] == ("score", "text")
        assert (batch.text.text(), batch.score.tolist()) == (["t0", "t1", "t2"], [0.5, 1.5, 2.5])
        assert batch.labels.tolist() == [0, 1, 2]
    # A map says the same.
    with forebay.Loader(folder, targets=forebay.Targets(columns={"text": "text"}), **settings) as loader:
        assert next(iter(loader)).text.text() == ["t0", "t1", "t2"]
    with pytest.raises(forebay.SettingsError, match='no column "words"'):
        forebay.Loader(folder, targets=forebay.Targets(columns=["words"]), **settings)


def test_a_list_of_columns_may_name_any_that_a_format_has(coco):
    settings = {"batch_size": 5, "transform": forebay.transforms.Resize((8, 8)), "epochs": 1}
    with forebay.Loader(
        coco, targets=forebay.Targets(columns=["category_ids", "boxes", "image_ids"]), **settings
    ) as loader:
        (batch,) = loader
        assert batch.columns[4:] == ("category_ids", "boxes", "image_ids")
        assert [len(ids) for ids in batch.category_ids] == [len(boxes) for boxes in BOXES]
        assert batch.boxes.values.shape == (4, 4)
    with pytest.raises(forebay.Error, match="boxess"):
        forebay.Loader(coco, targets=forebay.Targets(columns=["boxess"]), **settings)


def test_a_list_of_columns_of_a_format_that_has_its_own_is_refused_with_these(coco):
    with pytest.raises(forebay.Error, match="captoin"):
        forebay.Loader(coco, batch_size=2, size=8, targets=forebay.Targets(columns=["boxes", "captoin"]))
