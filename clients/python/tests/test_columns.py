"""Columns beside pictures and labels, from a dataset's annotations to a trainer."""

import json

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
    with forebay.Loader(coco, batch_size=2, size=8, shuffle=True, seed=3, epochs=1, last_batch_policy="fill") as loader:
        seen = []
        for batch in loader:
            assert batch.columns == ("images", "labels", "records", "mask", "boxes", "classes", "crowd", "area")
            assert batch.boxes.values.dtype == np.float32
            assert [len(classes) for classes in batch["classes"]] == batch.boxes.lengths.tolist()
            for place, record in enumerate(batch.records.tolist()):
                assert batch.area[place].tolist() == [width * height for _, _, width, height in BOXES[record]]
            seen.extend(batch.records[batch.mask].tolist())
    assert sorted(seen) == list(range(len(BOXES)))


def test_rule_47_a_loader_may_choose_its_columns(coco):
    with forebay.Loader(coco, batch_size=5, size=8, columns=["boxes", "images"]) as loader:
        batch = next(iter(loader))
        assert batch.columns[4:] == ("boxes",)
        with pytest.raises(AttributeError, match="no column 'area'"):
            _ = batch.area
        with pytest.raises(KeyError, match="images, labels, records, mask, boxes"):
            batch["area"]
    with pytest.raises(forebay.SettingsError, match=r'no column "masks"; its columns are: images.* boxes, classes'):
        forebay.Loader(coco, batch_size=5, size=8, columns=["masks"])


def test_rule_47_a_trainer_of_a_stream_looks_at_some_columns(coco, service):
    socket = service(coco, batch_size=5, size=8).socket
    with forebay.Loader("train", socket=socket, columns=["area"]) as loader:
        assert next(iter(loader)).columns[4:] == ("area",)
    with forebay.Loader("train", socket=socket) as loader:
        assert next(iter(loader)).columns[4:] == ("boxes", "classes", "crowd", "area")
    with pytest.raises(forebay.SettingsError, match='no column "masks"'):
        forebay.Loader("train", socket=socket, columns=["masks"])


def test_columns_get_the_names_that_the_loader_gives_them(coco):
    with forebay.Loader(coco, batch_size=5, size=8, columns={"where": "boxes", "id": "image_ids"}) as loader:
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
        assert kept.columns[4:] == ("boxes", "classes", "crowd", "area")
        assert kept.boxes.tolist() == view.tolist()
        kept.boxes.values[:] = 0
        with pytest.raises(ValueError, match="read-only"):
            view.values[:] = 0


def test_an_unknown_option_of_a_source_is_refused_with_those_that_it_has(coco):
    with pytest.raises(forebay.DatasetError, match=r'no option "roof".*"root"'):
        forebay.Loader(coco, batch_size=5, size=8, source_options={"roof": "x"})
