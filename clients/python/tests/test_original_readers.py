"""Each format beside the library that first wrote and read it, and each format through a crash of the daemon."""

import importlib.util
import os
import signal

import forebay
import numpy as np
import pytest
from originals import FORMATS, Format, some_pictures
from originals.dataset import SIDE, pixels_of
from processes import private_daemons

pytestmark = [pytest.mark.daemon, pytest.mark.originals, pytest.mark.usefixtures("binary")]

COUNT = 90
# Pixels as they are in the file: of their own size, and not normalised.
AS_THEY_ARE = {"transform": [forebay.transforms.Resize((SIDE, SIDE))], "batch_size": 8, "epochs": 1}


@pytest.fixture(params=FORMATS, ids=str)
def original(request) -> Format:
    """A format whose original library is installed."""
    if missing := [name for name in request.param.packages if importlib.util.find_spec(name) is None]:
        pytest.skip(f"{', '.join(missing)} is not installed; scripts/originals.txt names what the index must have")
    return request.param


def own(batch):
    """The places of a batch that have a record of their own."""
    return [place for place in range(len(batch.records)) if batch.mask[place]]


def test_the_original_reader_agrees_record_for_record(original, tmp_path):
    pictures, labels = some_pictures(COUNT)
    dataset = original.write(tmp_path, pictures, labels)
    expected = list(zip(pictures, labels if original.labels else [-1] * COUNT))
    if original.read is not None:
        assert original.read(tmp_path) == expected, "the library reads what it wrote"
    with forebay.Loader(dataset.source, **AS_THEY_ARE, **dataset.settings) as loader:
        seen = {
            int(batch.records[place]): (batch.images[place].copy(), int(batch.labels[place]))
            for batch in loader
            for place in own(batch)
        }
    assert sorted(seen) == list(range(COUNT))
    for record, (picture, label) in enumerate(expected):
        assert np.array_equal(seen[record][0], pixels_of(picture)), f"record {record}"
        assert seen[record][1] == label, f"record {record}"


def test_rule_16_a_killed_daemon_loses_no_record_of_any_format(original, tmp_path):
    pictures, labels = some_pictures(COUNT)
    dataset = original.write(tmp_path, pictures, labels)
    with forebay.Loader(dataset.source, shuffle=True, seed=3, **AS_THEY_ARE, **dataset.settings) as loader:
        seen = []
        for number, batch in enumerate(loader):
            for place in own(batch):
                record = int(batch.records[place])
                assert np.array_equal(batch.images[place], pixels_of(pictures[record])), f"record {record}"
                seen.append(record)
            if number == 4:
                (daemon,) = private_daemons()
                os.kill(daemon, signal.SIGKILL)
        assert sorted(seen) == list(range(COUNT))
        (audit,) = loader.audit()
        assert (audit.delivered, audit.adds_up) == (COUNT, True)


def test_rule_45_members_of_a_webdataset_become_masks_and_arrays(tmp_path):
    pytest.importorskip("webdataset", reason="webdataset is not installed; see scripts/originals.txt")
    (masked,) = (each for each in FORMATS if each.name == "webdataset with masks")
    pictures, labels = some_pictures(COUNT)
    dataset = masked.write(tmp_path, pictures, labels)
    with forebay.Loader(dataset.source, shuffle=True, seed=5, **AS_THEY_ARE, **dataset.settings) as loader:
        seen = 0
        for batch in loader:
            for place in own(batch):
                label = labels[int(batch.records[place])]
                assert (batch["seg"].dtype, batch["seg"][place].shape) == (np.uint8, (SIDE, SIDE))
                assert (batch["seg"][place] == label).all()
                assert batch["array"][place].tolist() == [float(label)] * 3
                seen += 1
    assert seen == COUNT


def test_pycocotools_and_the_columns_of_coco_agree(tmp_path):
    tools = pytest.importorskip("pycocotools.coco", reason="pycocotools is not installed; see scripts/originals.txt")
    pictures, labels = some_pictures(COUNT)
    (coco,) = (each for each in FORMATS if each.name == "coco")
    dataset = coco.write(tmp_path, pictures, labels)
    reference = tools.COCO(str(tmp_path / "instances.json"))
    categories = sorted(reference.getCatIds())
    ids = sorted(reference.getImgIds())
    with forebay.Loader(dataset.source, **AS_THEY_ARE) as loader:
        for batch in loader:
            for place in own(batch):
                objects = reference.loadAnns(reference.getAnnIds(imgIds=[ids[int(batch.records[place])]]))
                boxes = [[x, y, x + w, y + h] for x, y, w, h in (each["bbox"] for each in objects)]
                assert np.allclose(batch["boxes"][place], np.array(boxes).reshape(-1, 4))
                assert batch["classes"][place].tolist() == [categories.index(each["category_id"]) for each in objects]
                assert batch["area"][place].tolist() == [each["area"] for each in objects]
