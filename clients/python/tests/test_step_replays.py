"""`forebay replay` and `forebay preview` call functions in Python as a stream does (semantics rules 51 and 59)."""

import json
import subprocess
import sys
import textwrap

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

DRAWS = """
import random
import forebay
import numpy as np

def draw(picture, sample):
    picture[0] = random.randrange(256)
    picture[1] = np.random.randint(256)
    picture[2] = sample.rng().integers(256)
    picture[3] = sample.label
    return picture, {"label": 9}

def last(picture, sample):
    return picture[:4] if sample.label == 9 else None

def skips(picture, sample):
    raise forebay.Skip("too dark")

def raises(picture, sample):
    return picture + nothing
"""


@pytest.fixture
def steps(tmp_path):
    """The keys of a stream whose transforms have these functions, as arguments of a command."""
    (tmp_path / "my_replays.py").write_text(textwrap.dedent(DRAWS))

    def arguments(*names, **of):
        each = [{"python": {"function": f"my_replays:{name}", **of.get(name, {})}} for name in names]
        table = [{"random_resized_crop": {"size": 8}}, *each, {"random_horizontal_flip": {}}]
        text = json.dumps(table).replace('": ', '" = ')
        path = f"python_path={json.dumps([str(tmp_path)])}"
        return ["--set", f"transform={text}", "--set", path, "--set", f'python="{sys.executable}"', "--set", "seed=3"]

    return arguments


def test_rule_51_a_replay_calls_the_functions_of_a_stream(binary, jpegs, steps, tmp_path, monkeypatch):
    arguments = steps("draw", "last", last={"output": [4, 8]})
    monkeypatch.syspath_prepend(str(tmp_path))
    before, behind = transforms.RandomResizedCrop(8), transforms.RandomHorizontalFlip()
    functions = [transforms.Python("my_replays:draw"), transforms.Python("my_replays:last", output=(4, 8))]
    compared = 0
    with forebay.Loader(
        jpegs, batch_size=4, epochs=2, transform=[before, *functions, behind], seed=3, shuffle=True
    ) as loader:
        for epoch in range(2):
            for batch in loader:
                record, image = int(batch.records[0]), np.array(batch.images[0])
                assert int(batch.labels[0]) == 9
                command = [binary, "replay", jpegs, *arguments, "--record", str(record), "--epoch", str(epoch)]
                subprocess.run([*command, "--output", tmp_path], check=True, capture_output=True)
                replayed = np.load(tmp_path / f"record-{record}-epoch-{epoch}-images.npy")
                assert np.array_equal(replayed, image)
                compared += 1
    assert compared == 6


def test_a_preview_shows_what_functions_make(binary, jpegs, steps, tmp_path):
    sheet = tmp_path / "sheet.png"
    command = [binary, "preview", jpegs, *steps("draw"), "--record", "1", "--count", "2", "--output", sheet]
    subprocess.run(command, check=True, capture_output=True)
    assert sheet.stat().st_size > 0


def test_a_preview_of_several_epochs_starts_one_process_for_its_functions(binary, jpegs, steps, tmp_path):
    arguments = steps("draw")
    module = tmp_path / "my_replays.py"
    started = 'import os\nopen(f"{__file__}.{os.getpid()}", "x").close()\n'
    module.write_text(started + module.read_text())
    command = [
        binary,
        "preview",
        jpegs,
        *arguments,
        "--record",
        "1",
        "--count",
        "4",
        "--output",
        tmp_path / "sheet.png",
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert len(list(tmp_path.glob("my_replays.py.*"))) == 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("skips", "The function my_replays:skips has skipped it: too dark."),
        ("raises", "NameError: name 'nothing' is not defined"),
        ("nowhere", "no attribute 'nowhere'"),
    ],
)
def test_rule_51_a_function_that_gives_no_picture_is_told(binary, jpegs, steps, tmp_path, function, words):
    command = [binary, "replay", jpegs, *steps(function), "--record", "0", "--epoch", "0", "--output", tmp_path]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert words in told.stderr, told.stderr


def test_rule_59_a_configuration_names_the_folders_of_the_functions_that_a_replay_calls(binary, jpegs, steps, tmp_path):
    steps("draw")
    stream = f"""
        [streams.train]
        source = "{jpegs}"
        batch_size = 4
        python = "{sys.executable}"
        transform = [{{ center_crop = {{ size = 8 }} }}, {{ python = {{ function = "my_replays:draw" }} }}]
    """
    for sources, status in ("", 1), (f'[sources]\npython = ["{tmp_path}", "{sys.prefix}"]\n', 0):
        config = tmp_path / "forebay.toml"
        config.write_text(sources + textwrap.dedent(stream))
        command = [binary, "replay", "--config", config, "--stream", "train", "--record", "0", "--epoch", "0"]
        told = subprocess.run([*command, "--output", tmp_path], capture_output=True, text=True)
        assert told.returncode == status, told.stderr
