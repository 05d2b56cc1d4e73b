"""Real photographs, if there are any. Every path through the daemon must give the same pixels."""

import json
import os
from pathlib import Path

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

DATA = Path(os.environ.get("FOREBAY_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.fixture
def photographs():
    """The folder of 500 ImageNet photographs."""
    folder = DATA / "imagenet"
    if not folder.is_dir():
        pytest.skip(f"no photographs in {folder}; FOREBAY_TEST_DATA names the folder above them")
    return folder


def by_record(loader):
    """Every picture of an epoch, by its record number."""
    return {record: image.copy() for batch in loader for record, image in zip(batch.records.tolist(), batch.images)}


def test_rule_08_the_same_record_has_the_same_pixels_whatever_the_batch_threads_and_process(jpegs):
    settings = {"size": 48, "shuffle": True, "seed": 7, "epochs": 2}
    with forebay.Loader(jpegs, batch_size=12, num_threads=1, **settings) as loader:
        first, second = by_record(loader), by_record(loader)
    with forebay.Loader(jpegs, batch_size=5, num_threads=4, **settings) as loader:
        again, once_more = by_record(loader), by_record(loader)
    assert first.keys() == again.keys() == set(range(12))
    assert all(np.array_equal(first[record], again[record]) for record in first)
    assert all(np.array_equal(second[record], once_more[record]) for record in second)
    assert any(not np.array_equal(first[record], second[record]) for record in first), "an epoch has its own crops"


def test_rule_08_crops_are_the_same_after_a_resume(jpegs):
    settings = {"batch_size": 4, "size": 48, "shuffle": True, "seed": 7, "epochs": 1}
    with forebay.Loader(jpegs, **settings) as loader:
        whole = by_record(loader)
    with forebay.Loader(jpegs, **settings) as loader:
        loader.next()
        state = loader.state_dict()
    with forebay.Loader(jpegs, **settings) as loader:
        loader.load_state_dict(state)
        rest = by_record(loader)
    assert len(rest) == 8
    assert all(np.array_equal(whole[record], image) for record, image in rest.items())


def test_three_epochs_of_photographs_over_two_trainers_are_delivered_once_each(photographs, service, trainer):
    daemon = service(photographs, batch_size=16, size=64, shuffle=True, seed=1, epochs=3)
    code = """
    with forebay.Loader("stream:train", socket=SOCKET) as loader:
        for epoch in range(3):
            seen = [int(r) for batch in loader for r in batch.records[batch.mask]]
            print(json.dumps([epoch, seen]), flush=True)
        audits = [[a.delivered, a.adds_up] for a in loader.audit()]
        print(json.dumps(["audit", audits]), flush=True)
    """
    trainers = [trainer(code, SOCKET=daemon.socket) for _ in range(2)]
    said = [[json.loads(line) for line in each.stdout] for each in trainers]
    for epoch in range(3):
        shares = [words[epoch][1] for words in said]
        assert sorted(shares[0] + shares[1]) == list(range(500))
    for words in said:
        assert words[3] == ["audit", [[500, True]] * 3]


def test_resize_and_centre_crop_against_pillow(photographs, capsys):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    steps = [transforms.Resize(256), transforms.CenterCrop(224)]
    differences = []
    with forebay.Loader(photographs, batch_size=50, transform=steps, epochs=1) as loader:
        for batch in loader:
            for record, ours in zip(batch.records.tolist(), batch.images):
                differences.append(np.abs(ours.astype(int) - pillow(image, loader.path(record))).mean())
    with capsys.disabled():
        print(f"\n  mean absolute difference to Pillow over {len(differences)} photographs: {np.mean(differences):.3f}")
    assert len(differences) == 500
    assert np.mean(differences) < 0.5
    assert np.max(differences) < 2


def pillow(image, path):
    """Resize(256) and CenterCrop(224) of torchvision, computed by Pillow."""
    with image.open(path) as opened:
        picture = opened.convert("RGB")
    width, height = picture.size
    short = min(width, height)
    size = (256, int(256 * height / short)) if width <= height else (int(256 * width / short), 256)
    picture = picture.resize(size, image.Resampling.BILINEAR)
    left, top = round((size[0] - 224) / 2), round((size[1] - 224) / 2)
    return np.asarray(picture.crop((left, top, left + 224, top + 224))).astype(int)
