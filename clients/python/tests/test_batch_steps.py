"""Functions in Python that are called with finished batches (semantics rule 59)."""

import json
import re
import subprocess
from pathlib import Path

import forebay
import numpy as np
import pytest
from batch_functions import BEFORE, of_batches
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


CHANGES = """
import numpy as np

def changes(batch):
    assert batch.columns[:4] == ("images", "labels", "records", "mask")
    assert len(batch) == len(batch.records) == len(batch.mask)
    assert batch.validity("labels").all() and not batch.validity("soft").any()
    batch.images[...] = 255 - batch.images
    batch.small[...] = 7
    batch["soft"][...] = np.eye(3)[batch.labels]
    batch.labels[:] = batch.labels + 100

def returned(batch):
    soft = np.eye(3, dtype=np.float32)[batch.labels]
    small = np.full_like(batch.small, 7)
    return {"images": 255 - batch.images, "small": small, "soft": soft, "labels": batch.labels + 100}
"""


@pytest.mark.parametrize("function", ["changes", "returned"])
@pytest.mark.parametrize("workers", [2, 0])
def test_rule_59_a_function_of_batches_changes_images_views_labels_and_columns(jpegs, batch_module, function, workers):
    name = batch_module(CHANGES)
    views = {"small": [transforms.RandomResizedCrop(4)]}
    given = {"batch_size": 5, "epochs": 1, "seed": 3, "views": views}
    with forebay.Loader(jpegs, transform=BEFORE, **given) as loader:
        plain = [batch.copy() for batch in loader]
    step = of_batches(f"{name}:{function}", columns={"soft": "f32 [3]"})
    if workers == 0:
        space = {}
        exec(CHANGES, space)
        step = of_batches(space[function], columns={"soft": "f32 [3]"})
    with forebay.Loader(jpegs, transform=[*BEFORE, step], python_workers=workers, **given) as loader:
        made = [batch.copy() for batch in loader]
        assert [audit.adds_up for audit in loader.audit()] == [True]
    assert [len(batch.images) for batch in made] == [5, 5, 2]
    for before, batch in zip(plain, made, strict=True):
        assert np.array_equal(batch.records, before.records)
        assert np.array_equal(batch.images, 255 - before.images)
        assert np.array_equal(batch.labels, before.labels + 100)
        assert np.array_equal(batch["soft"], np.eye(3, dtype=np.float32)[before.labels])
        assert batch.validity("soft").all()
        assert (batch["small"] == 7).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rule_59_a_function_of_batches_gets_the_type_and_layout_of_the_stream(jpegs, batch_module, dtype):
    name = batch_module(
        """
        def halves(batch):
            assert batch.images.shape[1:] == (3, 8, 8)
            if batch.images.dtype == "uint16":
                batch.images[...] = batch.images ^ 0x8000
            else:
                batch.images[...] = -batch.images
        """
    )
    steps = [*BEFORE, transforms.Normalize([0.5] * 3, [0.25] * 3)]
    given = {"batch_size": 4, "epochs": 1, "seed": 3, "dtype": dtype, "layout": "NCHW"}
    with forebay.Loader(jpegs, transform=steps, **given) as loader:
        plain = [np.array(batch.images) for batch in loader]
    with forebay.Loader(jpegs, transform=[*steps, of_batches(f"{name}:halves")], **given) as loader:
        made = [np.array(batch.images) for batch in loader]
    sign = np.uint16(0x8000)
    for before, after in zip(plain, made, strict=True):
        expected = before ^ sign if dtype == "bfloat16" else -before
        assert before.any()
        assert np.array_equal(after, expected)


def test_rule_59_a_function_of_batches_reads_lists_masks_and_records_and_cannot_change_them(annotated, batch_module):
    name = batch_module(
        """
        import numpy as np

        def reads(batch):
            for array in (batch.mask, batch.records, *batch.boxes):
                try:
                    array[...] = 0
                except ValueError:
                    continue
                raise AssertionError("it was changed")
            assert batch.images.shape == (len(batch), 6, 6, 3)
            assert [each.shape[1:] for each in batch.boxes] == [(4,)] * len(batch)
            for place, boxes in enumerate(batch.boxes):
                batch.images[place] = len(boxes)
                batch["total"][place] = boxes.sum()
        """
    )
    steps = [transforms.CenterCrop(6), of_batches(f"{name}:reads", columns={"total": "f32"})]
    found = 0
    with forebay.Loader(annotated, batch_size=2, epochs=1, transform=steps) as loader:
        for batch in loader:
            for place in range(len(batch.images)):
                boxes = np.asarray(batch["boxes"][place])
                assert (batch.images[place] == len(boxes)).all()
                assert batch["total"][place] == np.float32(boxes.sum())
                found += len(boxes)
    assert found > 1


def test_rule_59_a_function_of_batches_is_behind_functions_of_pictures_and_mixing(jpegs, batch_module):
    name = batch_module(
        """
        def dark(picture, sample):
            return picture // 2

        def inverts(batch):
            batch.images[...] = 255 - batch.images
            batch.mix[:] = 1 - batch.mix
            batch.mixed_labels[:] += 10
        """
    )
    of_pictures = [*BEFORE, transforms.Python(f"{name}:dark")]
    given = {"batch_size": 4, "epochs": 1, "seed": 3, "mixing": transforms.MixUp(1.0), "python_workers": 1}
    with forebay.Loader(jpegs, transform=of_pictures, **given) as loader:
        plain = [batch.copy() for batch in loader]
    with forebay.Loader(jpegs, transform=[*of_pictures, of_batches(f"{name}:inverts")], **given) as loader:
        made = [batch.copy() for batch in loader]
    for before, batch in zip(plain, made, strict=True):
        assert np.array_equal(batch.images, 255 - before.images)
        assert np.array_equal(batch["mix"], 1 - before["mix"])
        assert np.array_equal(batch["mixed_labels"], before["mixed_labels"] + 10)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"transform": [*BEFORE, of_batches("a:b"), transforms.RandomInvert()]}, "must be the last transform"),
        ({"transform": [*BEFORE, of_batches("a:b"), of_batches("a:c")]}, "the only one of its kind"),
        ({"transform": [*BEFORE, transforms.RandomApply([of_batches("a:b")])]}, "must be the last transform"),
        ({"transform": [*BEFORE, of_batches("a:b", output=8)]}, "output has no meaning"),
        (
            {"transform": [*BEFORE, of_batches("a:b", columns={"tags": ("i64 [*]", 5)})]},
            'columns has "tags" with lists',
        ),
        ({"transform": [*BEFORE, of_batches("a")]}, 'must be "module:name"'),
        ({"transform": [*BEFORE, transforms.Python("a:b", scope="epoch")]}, "scope"),
        ({"transform": BEFORE, "views": {"small": [*BEFORE, of_batches("a:b")]}}, "in the view small"),
        ({"transform": [*BEFORE, of_batches("my_batches:b")]}, "no attribute 'b'"),
    ],
)
def test_rule_59_a_place_or_a_value_that_a_function_of_batches_cannot_have_is_refused_by_name(
    jpegs, batch_module, given, words
):
    batch_module("x = 1\n")
    with pytest.raises(forebay.SettingsError) as error:
        forebay.Loader(jpegs, batch_size=4, **given)
    assert words in str(error.value), str(error.value)


def test_rule_59_a_function_of_batches_is_called_by_a_loader_alone():
    with pytest.raises(ValueError, match="only a Loader can carry it out"):
        transforms.Compose([*BEFORE, of_batches("my_steps:smooth")])


def test_rule_51_a_replay_shows_pictures_before_a_function_of_batches(binary, jpegs, batch_module, tmp_path):
    batch_module("def changes(batch):\n    batch.images[...] = 0\n")
    made = []
    for steps in (BEFORE, [*BEFORE, of_batches("my_batches:changes")]):
        folder = tmp_path / f"replay-{len(made)}"
        folder.mkdir()
        text = json.dumps([step.to_settings() for step in steps]).replace('": ', '" = ')
        arguments = [
            "--set",
            f"transform={text}",
            "--set",
            "seed=3",
            "--record",
            "4",
            "--epoch",
            "1",
            "--output",
            folder,
        ]
        subprocess.run([binary, "replay", jpegs, *arguments], check=True, stdout=subprocess.DEVNULL)
        made.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert made[0] == made[1]
    assert made[0]


def test_rule_59_the_example_of_the_page_mixes_labels_as_it_mixes_pictures(jpegs, batch_module):
    page = (Path(__file__).parents[3] / "docs" / "python-steps.md").read_text()
    (code,) = re.findall(r"```python\n# my_mixes\.py\n(.*?)```", page, re.DOTALL)
    name = batch_module(code, "my_mixes")
    given = {"batch_size": 4, "epochs": 1, "seed": 3, "shuffle": True}
    columns = {"soft_labels": "f32 [10]"}
    with forebay.Loader(jpegs, transform=BEFORE, **given) as loader:
        plain = [batch.copy() for batch in loader]
    for function in ("smooth", "cut_mix"):
        with forebay.Loader(
            jpegs, transform=[*BEFORE, of_batches(f"{name}:{function}", columns=columns)], **given
        ) as loader:
            made = [batch.copy() for batch in loader]
        for before, batch in zip(plain, made, strict=True):
            smooth = before.soft_labels(10, 0.1)
            changed = (batch.images != before.images).any(axis=-1)
            if function == "smooth":
                assert not changed.any()
                np.testing.assert_allclose(batch["soft_labels"], smooth, atol=1e-6)
                continue
            other = np.roll(before.images, 1, axis=0)
            assert np.array_equal(batch.images[changed], other[changed])
            np.testing.assert_allclose(batch["soft_labels"].sum(axis=1), 1, atol=1e-5)
