"""Functions in Python inside RandomApply and RandomChoice, and in the lists of further views (semantics rule 59)."""

import os
import signal
import subprocess
import sys

import forebay
import numpy as np
import pytest
from forebay import transforms
from processes import children, private_daemons

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

CODE = """
import random

import numpy as np

def inverted(picture, sample):
    return 255 - picture

def unchanged(picture, sample):
    return None

def drawn(picture, sample):
    picture[0] = random.randrange(256)
    picture[1] = np.random.randint(256)
    picture[2] = sample.rng().integers(256)
    picture[3] = {"images": 1, "small": 2, "other": 3}[sample.view]
    return picture

def larger(picture, sample):
    return np.repeat(picture, 2, axis=0)

def halved(picture, sample):
    return picture.astype(np.float32) / 2

def labelled(picture, sample):
    return picture, {"label": 7}
"""
CROP = transforms.RandomResizedCrop(16)
FLIP = transforms.RandomHorizontalFlip()
INVERT = transforms.RandomInvert(p=1.0)


def step(name, **given):
    return transforms.Python(f"my_places:{name}", **given)


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """The module of the functions. Gives its folder."""
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "my_places.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def seen(source, steps, columns=("images",), *, epochs=3, each=lambda: None, **given):
    """What some columns have for each turn."""
    found = {}
    given = {"batch_size": 3, "seed": 11, "shuffle": True, "epochs": epochs, **given}
    with forebay.Loader(source, transform=steps, **given) as loader:
        for _epoch in range(epochs):
            for batch in loader:
                each()
                for place in np.flatnonzero(batch.mask):
                    turn = int(batch.records[place]), batch.epoch
                    assert turn not in found
                    found[turn] = [np.array(getattr(batch, name)[place]) for name in columns]
        assert all((epoch.quarantined, epoch.adds_up) == (0, True) for epoch in loader.audit())
    return found


def equal(made, expected):
    assert made.keys() == expected.keys()
    return all(np.array_equal(first, second) for turn in made for first, second in zip(made[turn], expected[turn]))


def nested(invert, nothing):
    """Lists with these two in other transforms, several deep."""
    apply = transforms.RandomApply([FLIP, invert, transforms.RandomVerticalFlip()], p=0.6)
    choice = transforms.RandomChoice([nothing, transforms.RandomApply([invert, apply], p=0.7), FLIP], p=[1, 3, 1])
    grey, solarize = transforms.RandomGrayscale(0.4), transforms.RandomSolarize(100, p=1.0)
    # What is inverted first is solarised elsewhere.
    order = transforms.RandomOrder([invert, solarize, transforms.RandomApply([FLIP, invert]), nothing, grey])
    within = transforms.RandomApply(
        [transforms.RandomOrder([solarize, order, transforms.RandomChoice([invert, FLIP])])]
    )
    long = [CROP, grey, apply, invert, transforms.RandomCrop(12), choice, FLIP]
    return [[CROP, apply, FLIP], [CROP, choice], long, [CROP, order], [CROP, invert, within, order, FLIP]]


def test_rule_59_a_function_inside_other_transforms_is_called_as_a_built_in_one_there_would_be(jpegs):
    nothing = transforms.RandomInvert(p=0.0)
    for functions, built_in in zip(nested(step("inverted"), step("unchanged")), nested(INVERT, nothing)):
        assert equal(seen(jpegs, functions, python_workers=2), seen(jpegs, built_in))


def test_rule_59_a_function_inside_random_apply_may_give_another_size_if_the_next_transforms_take_it(jpegs):
    steps = [CROP, transforms.RandomApply([step("larger", output=(32, 16))]), transforms.CenterCrop(16)]
    plain, made = seen(jpegs, [CROP]), seen(jpegs, steps)
    repeated = {turn: np.repeat(images[0], 2, axis=0)[8:24] for turn, images in plain.items()}
    kinds = {
        "larger" if np.array_equal(made[turn][0], repeated[turn]) else np.array_equal(made[turn][0], plain[turn][0])
        for turn in plain
    }
    assert kinds == {"larger", True}


def test_rule_59_the_last_function_of_a_choice_may_return_floats(jpegs):
    steps = [CROP, transforms.RandomChoice([step("halved"), step("unchanged")])]
    plain, made = seen(jpegs, [CROP]), seen(jpegs, steps, dtype="float32")
    halves = {turn: images[0].astype(np.float32) / 2 for turn, images in plain.items()}
    scaled = seen(jpegs, [CROP], dtype="float32")
    is_half = [np.array_equal(made[turn][0], halves[turn]) for turn in plain]
    assert all(half or np.array_equal(made[turn][0], scaled[turn][0]) for half, turn in zip(is_half, plain))
    assert 0 < sum(is_half) < len(is_half)


# Of the lists above, with functions that draw; and the same in a view.
ORDER = transforms.RandomOrder([step("drawn"), step("inverted"), transforms.RandomSolarize(100, p=1.0)])
DRAWN = [
    CROP,
    transforms.RandomApply([FLIP, step("drawn")], p=0.8),
    transforms.RandomChoice([step("drawn"), FLIP]),
    ORDER,
]
VIEWS = {
    "small": [transforms.RandomResizedCrop(8), FLIP, step("drawn")],
    "plain": [transforms.RandomResizedCrop((6, 9))],
    "other": [CROP, transforms.RandomApply([step("drawn"), FLIP]), transforms.RandomOrder([step("drawn"), FLIP])],
}
ALL = ("images", *VIEWS)


def test_rule_59_the_pixels_are_those_of_one_process_with_four_and_after_their_ends(jpegs):
    expected = seen(jpegs, DRAWN, ALL, views=VIEWS, python_workers=1)
    assert equal(seen(jpegs, DRAWN, ALL, views=VIEWS, python_workers=4, batch_size=5), expected)
    killed = []

    def kill():
        of = [children(daemon) for daemon in private_daemons()]
        for child in [child for each in of for child, command in each if "forebay_step" in command][:1]:
            os.kill(child, signal.SIGKILL)
            killed.append(child)

    assert equal(seen(jpegs, DRAWN, ALL, views=VIEWS, python_workers=2, each=kill), expected)
    assert len(set(killed)) > 1


def test_rule_59_a_view_has_its_own_functions_and_all_views_are_made_of_one_decoded_picture(jpegs):
    built_in = {"small": [transforms.RandomResizedCrop(8), INVERT, FLIP], "plain": VIEWS["plain"]}
    functions = {**built_in, "small": [transforms.RandomResizedCrop(8), step("inverted"), FLIP]}
    columns = ("images", *built_in)
    expected = seen(jpegs, [CROP, FLIP], columns, views=built_in)
    assert equal(seen(jpegs, [CROP, FLIP], columns, views=functions), expected)
    both = seen(jpegs, [CROP, step("inverted"), FLIP], columns, views=functions)
    assert equal(both, seen(jpegs, [CROP, INVERT, FLIP], columns, views=built_in))
    # The decoded pictures of a cache are those that functions get later.
    cached = seen(jpegs, [CROP, FLIP], columns, views=functions, cache={"keep": "decoded", "memory": "16mb"})
    assert equal(cached, expected)


def test_rule_59_a_function_of_a_view_draws_by_the_name_of_the_view(jpegs):
    made = seen(jpegs, DRAWN, ALL, views={**VIEWS, "other": VIEWS["small"]})
    assert all(small[3].min() == small[3].max() == 2 for _, small, _, _ in made.values())
    assert all(other[3].min() == other[3].max() == 3 for _, _, _, other in made.values())
    assert any(not np.array_equal(small[:3], other[:3]) for _, small, _, other in made.values())


def test_rule_59_the_loaders_process_calls_functions_inside_other_transforms_and_of_views(jpegs):
    called = []

    def inverted(picture, sample):
        called.append((os.getpid(), sample.view))
        return 255 - picture

    # Each place has a function of its own.
    one, other = transforms.Python(inverted), transforms.Python(lambda picture, sample: inverted(picture, sample))
    views = {"small": {"transform": [transforms.RandomResizedCrop(8), transforms.RandomApply([one])]}}
    built_in = {"small": [transforms.RandomResizedCrop(8), transforms.RandomApply([INVERT])]}
    steps = [CROP, transforms.RandomChoice([transforms.RandomApply([other]), FLIP])]
    expected = seen(
        jpegs, [CROP, transforms.RandomChoice([transforms.RandomApply([INVERT]), FLIP])], ALL[:2], views=built_in
    )
    assert equal(seen(jpegs, steps, ALL[:2], views=views, python_workers=0), expected)
    assert set(called) == {(os.getpid(), "images"), (os.getpid(), "small")}


def test_rule_59_a_function_of_a_view_returns_no_columns(jpegs):
    views = {"small": [transforms.RandomResizedCrop(8), step("labelled")]}
    given = {"batch_size": 12, "transform": [CROP], "views": views}
    with forebay.Loader(jpegs, **given) as loader, pytest.raises(forebay.RecordError) as error:
        loader.next()
    assert "it has returned 'label' for the view 'small'" in str(error.value), str(error.value)
    declared = {"small": [transforms.RandomResizedCrop(8), step("inverted", columns={"blur": "f32"})]}
    with pytest.raises(forebay.SettingsError, match="my_places:inverted in the view small, which declares columns"):
        forebay.Loader(jpegs, **{**given, "views": declared})


def test_rule_51_a_replay_calls_functions_inside_other_transforms_and_of_views(binary, jpegs, module, tmp_path):
    expected = seen(jpegs, DRAWN, ALL, views=VIEWS, epochs=2)

    def text(value):
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {text(each)}" for key, each in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(text, value)) + "]"
        return f'"{value}"' if isinstance(value, str) else str(value)

    def table(steps):
        return [each.to_settings() for each in steps]

    keys = {
        "transform": table(DRAWN),
        "views": {name: {"transform": table(steps)} for name, steps in VIEWS.items()},
        "python_path": [str(module)],
        "python": sys.executable,
        "seed": 11,
    }
    arguments = [word for key, value in keys.items() for word in ("--set", f"{key}={text(value)}")]
    for record, epoch in [(0, 0), (3, 1), (11, 1)]:
        command = [binary, "replay", jpegs, *arguments, "--record", str(record), "--epoch", str(epoch)]
        subprocess.run([*command, "--output", tmp_path], check=True, capture_output=True)
        made = [np.load(tmp_path / f"record-{record}-epoch-{epoch}-{name}.npy") for name in ALL]
        assert all(map(np.array_equal, made, expected[record, epoch]))
