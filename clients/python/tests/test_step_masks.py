"""Masks beside the pictures that functions in Python get, and what functions return for them (rule 59)."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import forebay
import numpy as np
import pytest
from forebay import transforms
from masked import HEIGHT, MASKS, TARGETS, WIDTH, numbers_of, write_masked
from png import write_png

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

CODE = """
import numpy as np

def mirror(picture, sample):
    masks = sample.columns
    assert list(masks) == ["seg", "depth", "ids"] and not sample.targets
    mirrored = {name: None if mask is None else mask[:, ::-1] for name, mask in masks.items()}
    return picture[:, ::-1], mirrored

def fits(picture, sample):
    columns, rows, record = (picture[..., channel].astype(np.int64) for channel in range(3))
    expected = (7 * rows + 3 * columns + record) % 256
    seg, depth, ids = (sample.columns[name] for name in ("seg", "depth", "ids"))
    assert (seg is None) == (depth is None) == (ids is None) == (sample.record == 4)
    if seg is None:
        return None
    assert (seg.dtype, depth.dtype, ids.dtype) == (np.uint8, np.uint16, np.int32)
    # The red of the border is 0 too, but its mask is not.
    there = depth != 65535
    assert there.sum() > 40
    for mask, of in (seg, expected), (depth, expected * 257), (ids, expected + 2 * 256 + 65536):
        assert mask.shape == picture.shape[:2] and np.array_equal(mask[there], of[there])
    # These are copies.
    seg[...] = 3
    return None

def paints(picture, sample):
    # A bool or a number of a narrower type fits too.
    shape = picture.shape[:2]
    return None, {"seg": np.ones(shape, bool), "ids": np.full(shape, 70, np.uint16), "depth": None}

def enlarged(picture, sample):
    both = {name: mask.repeat(2, axis=0).repeat(3, axis=1) for name, mask in sample.columns.items() if mask is not None}
    return picture.repeat(2, axis=0).repeat(3, axis=1), both

def forgets(picture, sample):
    larger, masks = enlarged(picture, sample)
    return larger, {name: mask for name, mask in masks.items() if name != "depth"}

def cut_out(picture, sample):
    seg = sample.columns["seg"]
    if seg is not None:
        picture[seg > sample.rng().integers(256)] = 9
        return picture, {"depth": np.where(seg > 99, np.uint16(1), np.uint16(2))}

def hides(picture, sample):
    ids = sample.columns["ids"]
    return None if ids is None else np.where((ids == 70)[..., None], np.uint8(1), picture)
"""
SETTINGS = {"batch_size": 2, "targets": TARGETS, "epochs": 1, "seed": 7}
CROP = transforms.RandomResizedCrop(16, scale=(0.3, 1.0))


@pytest.fixture
def dataset(tmp_path):
    """A folder with pictures that have masks."""
    write_masked(tmp_path)
    return tmp_path / "JPEGImages"


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """The module of the functions. Gives its folder."""
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "my_masks.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def step(name, **given):
    return transforms.Python(f"my_masks:{name}", **given)


def seen(source, steps, **given):
    """The picture and the masks of each record, None for those that it does not have."""
    made = {}
    with forebay.Loader(source, transform=steps, **{**SETTINGS, **given}) as loader:
        for batch in loader:
            for place in np.flatnonzero(batch.mask):
                masks = {name: batch[name][place].copy() for name in MASKS}
                there = {name: bool(batch.validity(name)[place]) for name in MASKS}
                made[int(batch.records[place])] = batch.images[place].copy(), masks, there
    return made


def equal(made, expected):
    assert made.keys() == expected.keys()
    for record, (image, masks, there) in made.items():
        assert np.array_equal(image, expected[record][0]), record
        assert there == expected[record][2]
        for name in MASKS:
            assert masks[name].dtype == expected[record][1][name].dtype
            assert np.array_equal(masks[name], expected[record][1][name]), (record, name)
    return True


AROUND = [
    (transforms.CenterCrop((20, 50)), [transforms.RandomCrop((18, 44)), transforms.RandomHorizontalFlip()]),
    (CROP, [transforms.RandomAffine(30, translate=(0.2, 0.1), fill=3), transforms.Resize((9, 20))]),
]


@pytest.mark.parametrize("workers", [2, 0])
@pytest.mark.parametrize("around", AROUND)
def test_rule_59_masks_that_a_function_mirrors_with_the_picture_are_those_of_a_built_in_flip(dataset, around, workers):
    before, behind = around
    built_in = seen(dataset, [before, transforms.RandomHorizontalFlip(1.0), *behind])
    mirror = step("mirror")
    if workers == 0:
        space = {}
        exec(CODE, space)
        mirror = transforms.Python(space["mirror"])
    made = seen(dataset, [before, mirror, *behind], python_workers=workers)
    assert equal(made, built_in)
    assert [record for record, (_, _, there) in made.items() if not any(there.values())] == [4]
    assert len(made) == 6


def test_rule_59_mirrored_masks_have_the_numbers_of_their_pixels(dataset):
    steps = [transforms.CenterCrop((20, 50)), step("mirror"), transforms.RandomHorizontalFlip()]
    for record, (image, masks, _) in seen(dataset, steps).items():
        inside = np.zeros((20, 50), bool)
        inside[:, 5:45] = True
        columns, rows = image[..., 0][inside], image[..., 1][inside]
        if record != 4:
            assert np.array_equal(masks["seg"][inside], numbers_of(record)[rows, columns])
            assert np.array_equal(masks["depth"][inside], numbers_of(record)[rows, columns] * np.uint16(257))
        assert (masks["seg"][~inside] == 255).all()


@pytest.mark.parametrize(
    "steps",
    [
        [transforms.CenterCrop((20, 50)), step("fits"), transforms.RandomCrop(12), step("fits")],
        [
            transforms.Resize((60, 80), "nearest"),
            step("fits"),
            transforms.RandomHorizontalFlip(),
            step("mirror"),
            step("fits"),
        ],
        [
            transforms.CenterCrop(28),
            transforms.RandomApply([transforms.RandomVerticalFlip(), step("fits")], p=0.7),
            step("fits"),
        ],
        [
            transforms.CenterCrop((40, 50)),
            transforms.RandomOrder([step("fits"), transforms.RandomHorizontalFlip(), step("mirror")]),
        ],
    ],
)
def test_rule_59_a_function_gets_masks_where_its_picture_is_and_masks_that_it_does_not_return_are_as_before(
    dataset, steps
):
    def built_in(each):
        if isinstance(each, transforms.Python):
            return transforms.RandomHorizontalFlip(1.0 if each.function == "my_masks:mirror" else 0.0)
        if isinstance(each, transforms.RandomOrder):
            return transforms.RandomOrder([built_in(inner) for inner in each.transforms])
        if isinstance(each, transforms.RandomApply):
            return transforms.RandomApply([built_in(inner) for inner in each.transforms], p=each.p)
        return each

    for cache in (None, {"keep": "decoded", "memory": "16mb"}):
        assert equal(seen(dataset, steps, cache=cache), seen(dataset, [built_in(each) for each in steps]))


def test_rule_59_a_function_that_is_skipped_leaves_the_masks_as_the_geometry_alone_has_them(dataset):
    around = [CROP], [transforms.RandomHorizontalFlip()]
    plain = seen(dataset, [*around[0], transforms.RandomApply([transforms.RandomInvert(0.0)]), *around[1]])
    made = seen(dataset, [*around[0], transforms.RandomApply([step("paints")]), *around[1]])
    painted = {record for record, (_, masks, _) in made.items() if (masks["ids"] == 70).all()}
    assert 0 < len(painted) < 6
    for record, (image, masks, there) in made.items():
        assert np.array_equal(image, plain[record][0])
        if record in painted:
            # Also of the record that has no mask.
            assert there == {"seg": True, "depth": False, "ids": True}
            assert (masks["seg"] == 1).all()
            assert (masks["depth"] == 65535).all()
        else:
            assert there == plain[record][2]
            assert all(np.array_equal(masks[name], plain[record][1][name]) for name in MASKS)


def test_rule_59_a_later_function_gets_the_masks_that_an_earlier_one_has_returned(dataset):
    steps = [CROP, step("paints"), transforms.RandomCrop(18, padding=2), step("hides")]
    for image, masks, there in seen(dataset, steps).values():
        is_painted = masks["ids"] == 70
        assert there["ids"]
        assert 0 < is_painted.sum() < is_painted.size
        # The border of the crop has no number of the function.
        assert np.array_equal((image == 1).all(axis=-1), is_painted)
        assert (masks["ids"][~is_painted] == 0).all()
        assert (masks["seg"][~is_painted] == 255).all()


def test_rule_59_a_function_that_gives_another_size_returns_the_masks_there(dataset):
    crop = transforms.CenterCrop((20, 30))
    plain = seen(dataset, [crop])
    larger = step("enlarged", output=(40, 90))
    for record, (image, masks, there) in seen(dataset, [crop, larger]).items():
        before = plain[record]
        assert np.array_equal(image, before[0].repeat(2, axis=0).repeat(3, axis=1))
        assert there == before[2]
        for name in MASKS:
            assert np.array_equal(masks[name], before[1][name].repeat(2, axis=0).repeat(3, axis=1))
    behind = [transforms.RandomCrop((30, 60)), transforms.RandomHorizontalFlip()]
    for record, (image, masks, _) in seen(dataset, [crop, larger, *behind]).items():
        if record != 4:
            assert np.array_equal(masks["seg"], numbers_of(record)[image[..., 1], image[..., 0]])


def test_rule_59_a_function_with_a_size_of_its_own_that_returns_not_all_masks_makes_the_record_bad(dataset):
    steps = [transforms.CenterCrop((20, 30)), step("forgets", output=(40, 90))]
    with forebay.Loader(dataset, transform=steps, on_error="skip", **SETTINGS) as loader:
        records = [record for batch in loader for record in batch.records[batch.mask].tolist()]
        # This record has none.
        assert records == [4]
        assert len(loader.quarantine) == 5
        assert all('so it must return the mask "depth" too' in bad.reason for bad in loader.quarantine)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("{'seg': mask.astype(np.int64)}", "its mask 'seg' is int64 [16, 16], but must be uint8 [16, 16]"),
        ("{'seg': mask.astype(np.uint16)}", "its mask 'seg' is uint16 [16, 16], but must be uint8 [16, 16]"),
        ("{'seg': mask.astype(np.int8)}", "its mask 'seg' is int8 [16, 16], but must be uint8 [16, 16]"),
        ("{'ids': mask.astype(np.uint32)}", "its mask 'ids' is uint32 [16, 16], but must be int32 [16, 16]"),
        ("{'depth': mask / 2}", "its mask 'depth' is float64 [16, 16], but must be uint16 [16, 16]"),
        ("{'seg': mask[1:]}", "its mask 'seg' is uint8 [15, 16], but must be uint8 [16, 16]"),
        ("{'seg': mask[None]}", "its mask 'seg' is uint8 [1, 16, 16], but must be uint8 [16, 16]"),
        ("{'seg': 7}", "its mask 'seg' is int64 [], but must be uint8 [16, 16]"),
        ("{'sag': mask}", "something for 'sag', but may do so for: label, seg, depth, ids"),
    ],
)
def test_rule_59_a_mask_of_another_size_or_type_makes_the_record_bad_and_says_why(dataset, module, returned, words):
    code = f"""
        import numpy as np

        def wrong(picture, sample):
            mask = sample.columns["seg"]
            return (None, {returned}) if sample.record == 2 else None
    """
    (module / "my_wrong.py").write_text(textwrap.dedent(code))
    steps = [CROP, transforms.Python("my_wrong:wrong")]
    with forebay.Loader(dataset, transform=steps, on_error="skip", **SETTINGS) as loader:
        records = sorted(record for batch in loader for record in batch.records[batch.mask].tolist())
        assert (records, [bad.record for bad in loader.quarantine]) == ([0, 1, 3, 4, 5], [2])
        assert words in loader.quarantine[0].reason, loader.quarantine[0].reason


def test_rule_59_a_function_of_a_view_gets_masks_where_they_are_in_its_view_and_returns_none(dataset):
    small = [transforms.RandomCrop((14, 15)), step("fits"), transforms.RandomVerticalFlip(1.0), step("fits")]
    plain = seen(dataset, [CROP, transforms.RandomHorizontalFlip()])
    with_view = {"views": {"small": small}}
    assert equal(seen(dataset, [CROP, transforms.RandomHorizontalFlip()], **with_view), plain)
    assert equal(
        seen(dataset, [CROP, step("mirror"), transforms.RandomHorizontalFlip()], **with_view),
        seen(dataset, [CROP, transforms.RandomHorizontalFlip(1.0), transforms.RandomHorizontalFlip()]),
    )
    views = {"small": [transforms.CenterCrop(8), step("paints")]}
    with (
        forebay.Loader(dataset, transform=[CROP], views=views, **SETTINGS) as loader,
        pytest.raises(forebay.RecordError, match="has returned 'seg', 'ids', 'depth' for the view 'small'"),
    ):
        loader.next()


def test_rule_59_masks_behind_a_function_of_a_view_with_another_size_are_as_if_it_had_resized_its_picture(
    dataset, module
):
    code = """
        import numpy as np
        from my_masks import fits

        def larger(picture, sample):
            return picture.repeat(2, axis=0).repeat(3, axis=1)
    """
    (module / "my_views.py").write_text(textwrap.dedent(code))
    crop = transforms.CenterCrop((20, 30))
    small = [
        crop,
        transforms.Python("my_views:larger", output=(40, 90)),
        step("fits"),
        transforms.RandomCrop(30),
        step("fits"),
    ]
    assert equal(seen(dataset, [crop], views={"small": small}), seen(dataset, [crop]))


def test_rule_59_a_mask_that_cannot_be_decoded_makes_the_record_bad_before_a_function_is_called(dataset):
    write_png(dataset.parent / "SegmentationClass" / "2.png", numbers_of(2)[1:])
    steps = [transforms.CenterCrop(20), step("fits")]
    with forebay.Loader(dataset, transform=steps, on_error="skip", **SETTINGS) as loader:
        records = sorted(record for batch in loader for record in batch.records[batch.mask].tolist())
        assert (records, [bad.record for bad in loader.quarantine]) == ([0, 1, 3, 4, 5], [2])
        assert f'mask "seg": it has ({WIDTH}, {HEIGHT - 1}) pixels' in loader.quarantine[0].reason


def test_rule_51_a_replay_gives_functions_the_masks_that_a_stream_gives_them(binary, dataset, module, tmp_path):
    steps = [
        CROP,
        transforms.RandomApply([step("cut_out")], p=0.8),
        transforms.RandomOrder([transforms.RandomHorizontalFlip(), step("cut_out"), step("mirror")]),
    ]
    expected = seen(dataset, steps)

    def text(value):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {text(each)}" for key, each in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        return f'"{value}"' if isinstance(value, (str, os.PathLike)) else str(value)

    keys = {
        "transform": [each.to_settings() for each in steps],
        "python_path": [module],
        "python": sys.executable,
        "seed": SETTINGS["seed"],
        "masks": MASKS,
        "labels": "none",
    }
    arguments = [word for key, value in keys.items() for word in ("--set", f"{key}={text(value)}")]
    for record, (image, _, _) in expected.items():
        command = [binary, "replay", dataset, *arguments, "--record", str(record), "--epoch", "0"]
        subprocess.run([*command, "--output", tmp_path], check=True, capture_output=True)
        assert np.array_equal(np.load(tmp_path / f"record-{record}-epoch-0-images.npy"), image)


def test_rule_59_the_function_of_the_page_mirrors_a_mask_with_its_picture(dataset, module):
    page = (Path(__file__).parents[3] / "docs" / "python-steps.md").read_text()
    (code,) = re.findall(r"```python\n# my_masks\.py\n(.*?)```", page, re.DOTALL)
    (module / "page_masks.py").write_text(code)
    targets = forebay.Targets(masks={"seg": MASKS["seg"]}, labels="none")
    given = {**SETTINGS, "targets": targets}
    made = []
    for flip in (transforms.Python("page_masks:mirror"), transforms.RandomHorizontalFlip(1.0)):
        with forebay.Loader(dataset, transform=[CROP, flip], **given) as loader:
            made.append(
                [(batch.images.tobytes(), batch.seg.tobytes(), batch.validity("seg").sum()) for batch in loader]
            )
    assert made[0] == made[1]
    assert sum(count for _, _, count in made[0]) == 5
