"""Functions in Python before the first crop: each picture has its own size there (semantics rule 59)."""

import json
import subprocess
import sys

import forebay
import numpy as np
import pytest
from forebay import image, transforms
from masked import TARGETS, write_masked
from png import write_png

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

CODE = """
import numpy as np

def corner(picture, sample):
    assert picture.flags.writeable and picture.shape[0] >= 24 and picture.shape[1] >= 20
    return picture[-24:, -20:]

def inverted(picture, sample):
    return 255 - picture

def mirrored(picture, sample):
    masks = {name: mask if mask is None else mask[:, ::-1] for name, mask in sample.columns.items()}
    return np.ascontiguousarray(picture[:, ::-1]), masks

def halved(picture, sample):
    return picture[: picture.shape[0] // 2]

def drawn(picture, sample):
    picture[:] = sample.rng().integers(0, 256, picture.shape, np.uint8)
"""
CROP = transforms.RandomResizedCrop(16)
FLIP = transforms.RandomHorizontalFlip()


def step(name, **given):
    return transforms.Python(f"my_sizes:{name}", **given)


@pytest.fixture
def sizes(tmp_path):
    """A folder of 12 pictures, each of its own size."""
    folder = tmp_path / "sizes"
    folder.mkdir()
    rng = np.random.default_rng(3)
    for number in range(12):
        height, width = rng.integers(24, 140, 2)
        tiles = rng.integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), np.uint8)
        write_png(folder / f"{number:02}.png", tiles.repeat(8, 0).repeat(8, 1)[:height, :width])
    return folder


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """The module of the functions. Gives its folder."""
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "my_sizes.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def seen(source, steps, columns=("images",), **given):
    """What some columns have for each record and epoch."""
    found = {}
    given = {"batch_size": 3, "seed": 11, "shuffle": True, "epochs": 2, **given}
    with forebay.Loader(source, transform=steps, **given) as loader:
        for _epoch in range(2):
            for batch in loader:
                for place in np.flatnonzero(batch.mask):
                    turn = int(batch.records[place]), batch.epoch
                    found[turn] = [np.array(getattr(batch, name)[place]) for name in columns]
        assert all(epoch.adds_up for epoch in loader.audit())
    return found


def equal(made, expected):
    assert made.keys() == expected.keys()
    return all(np.array_equal(first, second) for turn in made for first, second in zip(made[turn], expected[turn]))


@pytest.mark.parametrize("workers", [1, 3, 0])
def test_rule_59_a_function_gets_the_whole_picture_and_its_output_is_declared(sizes, workers):
    files = sorted(sizes.iterdir())
    whole = [image.decode(file.read_bytes()) for file in files]
    assert len({picture.shape for picture in whole}) == 12
    made = seen(sizes, [step("corner", output=(24, 20))], python_workers=workers)
    assert equal(made, {(record, epoch): [whole[record][-24:, -20:]] for record in range(12) for epoch in range(2)})


@pytest.mark.parametrize("cache", [None, {"keep": "decoded", "memory": "64mb", "max_side": 100}])
def test_rule_59_what_follows_a_function_works_on_pictures_of_any_size(sizes, cache):
    built_in = transforms.RandomInvert(p=1.0)
    for of in (
        lambda each: [each, CROP, FLIP],
        lambda each: [transforms.Resize(40), FLIP, each, transforms.RandomRotation(30, expand=True), each, CROP],
        lambda each: [transforms.RandomApply([each]), CROP],
        lambda each: [transforms.RandomOrder([each, FLIP, transforms.Resize(31)]), CROP],
        lambda each: [transforms.RandomChoice([each, transforms.Resize(50)]), each, CROP],
    ):
        views = {"small": {"transform": [*of(built_in), transforms.CenterCrop(8)]}}
        expected = seen(sizes, of(built_in), ("images", "small"), views=views, cache=cache)
        views = {"small": {"transform": [*of(step("inverted")), transforms.CenterCrop(8)]}}
        made = seen(sizes, of(step("inverted")), ("images", "small"), views=views, cache=cache)
        assert equal(made, expected)


def test_rule_59_boxes_and_masks_are_those_of_the_whole_picture(tmp_path):
    write_masked(tmp_path)
    columns, given = ("images", "seg", "depth"), {"targets": TARGETS}
    first, behind = transforms.RandomHorizontalFlip(p=1.0), [CROP, transforms.RandomVerticalFlip()]
    expected = seen(tmp_path / "JPEGImages", [first, *behind], columns, **given)
    made = seen(tmp_path / "JPEGImages", [step("mirrored"), *behind], columns, **given)
    assert equal(made, expected)


def test_a_result_of_another_size_names_output(sizes):
    with (
        forebay.Loader(sizes, batch_size=4, transform=[step("halved"), CROP]) as loader,
        pytest.raises(forebay.RecordError, match="declare another size with output"),
    ):
        for _batch in loader:
            pass


def test_rule_7_a_picture_beyond_the_limit_is_bad_and_no_memory_is_taken_for_it(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in (0, 2):
        write_png(folder / f"{number}.png", np.full((40 + number, 41, 3), number, np.uint8))
    # Its header says so many pixels, and that is all it has.
    (folder / "1.ppm").write_bytes(b"P6 13400 13400 255\n")
    steps = [step("inverted"), CROP]
    with forebay.Loader(folder, batch_size=2, epochs=1, transform=steps, on_error="skip") as loader:
        records = sorted(int(record) for batch in loader for record in batch.records[batch.mask])
        (bad,) = loader.quarantine
    assert records == [0, 2]
    assert bad.record == 1
    assert "pixels" in bad.reason


def test_rule_51_a_replay_calls_a_function_with_the_whole_picture(binary, sizes, module):
    expected = seen(sizes, [step("drawn"), CROP, FLIP])
    table = [each.to_settings() for each in (step("drawn"), CROP, FLIP)]
    text = json.dumps(table).replace('": ', '" = ')
    command = [binary, "replay", sizes, "--record", "5", "--epoch", "1", "--output", module]
    settings = [
        f"transform={text}",
        f"python_path={json.dumps([str(module)])}",
        f'python="{sys.executable}"',
        "seed=11",
    ]
    for each in settings:
        command += ["--set", each]
    subprocess.run(command, check=True, capture_output=True)
    replayed = np.load(module / "record-5-epoch-1-images.npy")
    assert np.array_equal(replayed, expected[5, 1][0])
