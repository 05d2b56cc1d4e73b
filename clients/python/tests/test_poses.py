"""Poses of YOLO and COCO in batches, and what a Loader says of annotations that it does not read."""

import json
import subprocess
import sys

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SIDE = 16


@pytest.fixture
def poses(tmp_path):
    """A picture with one object, whose keypoints are a left hand, a right hand and a nose; as YOLO and as COCO."""
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    (tmp_path / "images" / "0.ppm").write_bytes(b"P6 %d %d 255\n" % (SIDE, SIDE) + bytes(SIDE * SIDE * 3))
    (tmp_path / "labels" / "0.txt").write_text("0 0.5 0.5 1 1 0.25 0.5 2 0.75 0.5 1 0.5 0.125 2\n")
    (tmp_path / "data.yaml").write_text("names: [person]\nkpt_shape: [3, 3]\nflip_idx: [1, 0, 2]\n")
    category = {"id": 1, "name": "person", "keypoints": ["left_hand", "right_hand", "nose"]}
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, SIDE, SIDE]}
    annotation["keypoints"] = [4, 8, 2, 12, 8, 1, 8, 2, 2]
    images = [{"id": 1, "file_name": "0.ppm"}]
    file = tmp_path / "keypoints.json"
    file.write_text(json.dumps({"images": images, "annotations": [annotation], "categories": [category]}))
    return [str(tmp_path), f"coco:{file}?root={tmp_path / 'images'}"]


def test_rule_45_left_and_right_change_places_in_a_mirrored_picture(poses):
    kept = [[4, 8, 2], [12, 8, 1], [8, 2, 2]]
    # What was the left hand is the right one now, with its own visibility.
    mirrored = [[4, 8, 1], [12, 8, 2], [8, 2, 2]]
    for source in poses:
        for flip, expected in ((0.0, kept), (1.0, mirrored)):
            transform = [transforms.RandomHorizontalFlip(flip), transforms.Resize((SIDE, SIDE))]
            with forebay.Loader(source, batch_size=1, epochs=1, transform=transform) as loader:
                batch = next(iter(loader))
                np.testing.assert_allclose(batch.keypoints[0][0], expected, atol=1e-4, err_msg=f"{source}, {flip}")


def test_rule_45_pairs_of_a_flip_count_for_datasets_that_name_no_partners(poses, tmp_path):
    # By centers of pixels, 4 and 12 are not opposite each other.
    hands, swapped = [[11, 8, 2], [3, 8, 1], [7, 2, 2]], [[11, 8, 2], [7, 2, 2], [3, 8, 1]]
    by_dataset = [[3, 8, 1], [11, 8, 2], [7, 2, 2]]
    flips = transforms.RandomHorizontalFlip(1.0, keypoints="centers", flip_pairs=[(1, 2)])
    pairless = transforms.RandomHorizontalFlip(1.0, keypoints="centers")
    data = tmp_path / "data.yaml"
    for keys, flip, expected in (
        ("flip_idx: [1, 0, 2]\n", flips, by_dataset),
        ("", flips, swapped),
        ("", pairless, hands),
    ):
        data.write_text("names: [person]\nkpt_shape: [3, 3]\n" + keys)
        transform = [flip, transforms.Resize((SIDE, SIDE))]
        with forebay.Loader(poses[0], batch_size=1, epochs=1, transform=transform) as loader:
            np.testing.assert_allclose(next(iter(loader)).keypoints[0][0], expected, atol=1e-4, err_msg=keys)


def test_a_loader_says_which_annotations_it_does_not_read(tmp_path):
    for name in ("train/a", "valid/b"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.ppm").write_bytes(b"P6 2 2 255\n" + bytes(12))
        (tmp_path / f"{name}.xml").write_text("<annotation/>")
    code = "import forebay, sys; next(iter(forebay.Loader(sys.argv[1], batch_size=1, size=2)))"

    def said(source):
        run = subprocess.run([sys.executable, "-c", code, source], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stderr

    words = said(str(tmp_path))
    for word in ("2 XML files", "train/a.xml", '"train", "valid"', "Open one of the folders"):
        assert word in words, words
    assert "XML" not in said(f"folder:{tmp_path}?unread=accept")
