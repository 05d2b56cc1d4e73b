"""`forebay replay` gives the bytes that training saw."""

import json
import subprocess

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = pytest.mark.daemon

STEPS = [transforms.RandomResizedCrop(20), transforms.ColorJitter(0.4), transforms.RandomHorizontalFlip()]
LOCAL = [transforms.RandomResizedCrop(8, scale=(0.05, 0.3))]


def table(steps):
    return json.dumps([step.to_settings() for step in steps]).replace('": ', '" = ')


def replayed(binary, folder, *arguments, record, epoch):
    command = [binary, "replay", *arguments, "--record", str(record), "--epoch", str(epoch), "--output", folder]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    start = f"record-{record}-epoch-{epoch}-"
    return {
        file.stem.removeprefix(start): np.load(file)
        for file in folder.glob(f"{start}*.npy")
        if "repeat" not in file.name
    }


def test_rule_51_a_replay_has_the_bytes_of_every_view_before_mixing(binary, jpegs, tmp_path):
    given = {"transform": STEPS, "views": {"local": LOCAL}, "shuffle": True, "seed": 5}
    sets = [
        "shuffle=true",
        "seed=5",
        f"transform={table(STEPS)}",
        f"views={{ local = {{ transform = {table(LOCAL)} }} }}",
    ]
    arguments = [jpegs, *(each for pair in sets for each in ("--set", pair))]
    with forebay.Loader(jpegs, batch_size=4, epochs=2, **given) as loader:
        for epoch in range(2):
            for batch in loader:
                for place, record in enumerate(batch.records.tolist()):
                    found = replayed(binary, tmp_path, *arguments, record=record, epoch=epoch)
                    assert set(found) == {"images", "local"}
                    assert np.array_equal(found["images"], batch.images[place])
                    assert np.array_equal(found["local"], batch.local[place])
    mixing = ["--set", "mixing={ mix_up = {} }"]
    plain, mixed = (replayed(binary, tmp_path, *arguments, *more, record=3, epoch=1) for more in ([], mixing))
    assert np.array_equal(plain["images"], mixed["images"])


def test_rule_51_a_part_that_was_drawn_by_boxes_is_replayed(binary, jpegs, tmp_path):
    files = sorted(str(file.relative_to(jpegs)) for file in jpegs.rglob("*.jpg"))
    probes = [forebay.image.probe(jpegs / file) for file in files]
    images = [
        {"id": number, "file_name": file, "width": found.width, "height": found.height}
        for number, (file, found) in enumerate(zip(files, probes))
    ]
    annotations = [
        {"id": number * 2 + corner, "image_id": number, "category_id": 1, "bbox": box, "area": 1.0, "iscrowd": 0}
        for number, found in enumerate(probes)
        for corner, box in enumerate(
            [
                [0, 0, found.width / 3, found.height / 3],
                [found.width / 2, found.height / 2, found.width / 3, found.height / 3],
            ]
        )
    ]
    document = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "thing"}]}
    (tmp_path / "boxes.json").write_text(json.dumps(document))
    source = f"coco:{tmp_path / 'boxes.json'}?root={jpegs}"
    steps = [
        transforms.RandomZoomOut(7),
        transforms.RandomIoUCrop(sampler_options=(0, 0.1)),
        transforms.Resize((20, 24)),
    ]
    sets = ["shuffle=true", "seed=5", f"transform={table(steps)}"]
    arguments = [source, *(each for pair in sets for each in ("--set", pair))]
    dropped = 0
    # Boxes that a Loader does not deliver decide all the same.
    for columns in ({}, {"targets": forebay.Targets(columns=[])}):
        with forebay.Loader(source, batch_size=4, epochs=1, transform=steps, shuffle=True, seed=5, **columns) as loader:
            for batch in loader:
                for place, record in enumerate(batch.records.tolist()):
                    found = replayed(binary, tmp_path, *arguments, record=record, epoch=0)
                    assert np.array_equal(found["images"], batch.images[place])
                    if not columns:
                        assert len(batch.boxes[place]) in (1, 2), "the middle of a box is always shown"
                        dropped += 2 - len(batch.boxes[place])
    assert dropped > 0
    with pytest.raises(forebay.SettingsError, match=r"transform 1 \(random_iou_crop\) needs the boxes"):
        forebay.Loader(jpegs, batch_size=4, transform=steps)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rule_51_a_stream_of_a_configuration_is_replayed_by_its_name(binary, jpegs, service, tmp_path, dtype):
    cache = {"keep": "decoded", "memory": "20mb", "max_side": 40}
    keys = {"size": 16, "shuffle": True, "dtype": dtype, "layout": "NCHW", "cache": cache, "repeats": 2}
    daemon = service(jpegs, batch_size=5, epochs=1, **keys)
    arguments = ["--config", tmp_path / "forebay.toml", "--stream", "train"]
    seen = 0
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        for batch in loader:
            for place, record in enumerate(batch.records.tolist()):
                if batch.repeats[place] == 0:
                    found = replayed(binary, tmp_path, *arguments, record=record, epoch=0)["images"]
                else:
                    replayed(binary, tmp_path, *arguments, "--repeat", "1", record=record, epoch=0)
                    found = np.load(tmp_path / f"record-{record}-epoch-0-repeat-1-images.npy")
                assert found.tobytes() == batch.images[place].tobytes()
                assert found.shape == (3, 16, 16)
                seen += 1
    assert seen == 24


def test_rule_51_what_cannot_be_replayed_is_told(binary, jpegs, tmp_path):
    def refused(*arguments):
        command = [binary, "replay", *map(str, arguments), "--output", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode != 0
        return ended.stderr

    at = ("--record", 12, "--epoch", 0)
    assert "there is no record 12: the dataset has 12" in refused(jpegs, "--set", "size=8", *at)
    assert "size: is missing" in refused(jpegs, *at)
    assert "sizes: is not a key" in refused(jpegs, "--set", "sizes=8", *at)
    assert "--record" in refused(jpegs, "--epoch", 0)
    bad = sorted(jpegs.glob("*/*"))[3]
    bad.write_bytes(bad.read_bytes()[:300])
    assert bad.name in refused(jpegs, "--set", "size=8", "--record", 3, "--epoch", 0)
