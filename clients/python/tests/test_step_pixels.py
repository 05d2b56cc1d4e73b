"""What functions in Python make of a record is the same in each run: at any world size, and after a kill (rule 59)."""

import hashlib
import json
import os
import signal
import subprocess
import sys

import forebay
import numpy as np
import pytest
from forebay import transforms
from processes import Daemon, children, private_daemons
from test_python_steps_service import served

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

RECORDS, EPOCHS = 12, 2
GENERATORS = """
import random

import numpy as np

class Own:
    def __init__(self):
        self.generator = random.Random()

    def set_random_seed(self, seed):
        self.generator.seed(seed)

own = Own()

def draw(picture, sample):
    picture[0] = random.randrange(256)
    picture[1] = np.random.randint(256)
    picture[2] = sample.rng().integers(256)
    picture[3] = own.generator.randrange(256)
    return np.roll(picture, random.randrange(8), axis=1)
"""
TORCH = """
import torch

own = None

def draw(picture, sample):
    picture[0] = torch.randint(256, (1,)).item()
    noise = torch.randint(0, 40, picture.shape, dtype=torch.uint8)
    return torch.from_numpy(picture) // 2 + noise
"""
ALBUMENTATIONS = """
import albumentations

own = albumentations.Compose(
    [albumentations.ColorJitter(p=1.0), albumentations.CoarseDropout(p=1.0), albumentations.GaussNoise(p=1.0)]
)

def draw(picture, sample):
    return own(image=picture)["image"]
"""


@pytest.fixture
def drawing(request, tmp_path, monkeypatch):
    """The folder of a module whose function draws from generators: of Python and numpy, or of a library."""
    name, code = getattr(request, "param", (None, GENERATORS))
    if name is not None:
        pytest.importorskip(name, reason=f"{name} is not installed; `make originals` installs it")
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "my_draws.py").write_text(code)
    monkeypatch.syspath_prepend(str(folder))
    return folder


each_library = pytest.mark.parametrize(
    "drawing",
    [
        pytest.param((None, GENERATORS), id="python"),
        pytest.param(("torch", TORCH), marks=pytest.mark.originals, id="torch"),
        pytest.param(("albumentations", ALBUMENTATIONS), marks=pytest.mark.originals, id="albumentations"),
    ],
    indirect=True,
)


@pytest.fixture
def steps(drawing):
    """Transforms with a function that draws from all generators."""
    has_own = "own = None" not in (drawing / "my_draws.py").read_text()
    function = transforms.Python("my_draws:draw", seeded=["my_draws:own"] if has_own else None)
    inside = transforms.RandomApply([transforms.RandomChoice([function, transforms.RandomVerticalFlip()])], p=0.9)
    return [transforms.RandomResizedCrop(16), function, transforms.RandomHorizontalFlip(), inside]


@pytest.fixture
def views(steps):
    """The same in a view, with another size."""
    return {"local": [transforms.RandomResizedCrop((6, 8)), *steps[1:]]}


def hashes(loader, epochs=EPOCHS):
    """The SHA-256 of the pictures of each record in each epoch that the loader gives."""
    found = {}
    for _ in range(epochs):
        for batch in loader:
            for place in np.flatnonzero(batch.mask):
                found[turn_at(batch, place)] = hash_at(batch, place)
    return found


def turn_at(batch, place):
    return int(batch.records[place]), batch.epoch


def hash_at(batch, place):
    """That of one record."""
    pixels = [np.ascontiguousarray(each[place]).tobytes() for each in (batch.images, batch.local)]
    return hashlib.sha256(b"".join(pixels)).hexdigest()


@pytest.fixture
def expected(jpegs, steps, views):
    """Those of one Loader with one process for functions."""
    given = {"shuffle": True, "seed": 7, "epochs": EPOCHS, "python_workers": 1, "views": views}
    with forebay.Loader(jpegs, batch_size=3, transform=steps, **given) as loader:
        found = hashes(loader)
    assert len(set(found.values())) == RECORDS * EPOCHS
    return found


@each_library
@pytest.mark.parametrize("kills", [False, True])
def test_rule_59_functions_make_the_same_pictures_with_4_processes_and_if_these_are_killed(
    jpegs, steps, views, expected, kills
):
    found = {}
    given = {"shuffle": True, "seed": 7, "epochs": EPOCHS, "python_workers": 4, "views": views}
    with forebay.Loader(jpegs, batch_size=2, transform=steps, **given) as loader:
        for _ in range(EPOCHS):
            for batch in loader:
                found.update({turn_at(batch, place): hash_at(batch, place) for place in np.flatnonzero(batch.mask)})
                for child in callers() if kills else ():
                    os.kill(child, signal.SIGKILL)
        assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(0, True)] * EPOCHS
    assert found == expected


def callers():
    """The processes that call functions for this process's own daemons."""
    of = [children(daemon) for daemon in private_daemons()]
    return [child for each in of for child, command in each if "forebay_step" in command]


@each_library
def test_rule_59_functions_make_the_same_pictures_in_a_replay(binary, jpegs, drawing, steps, views, expected, tmp_path):
    table = {"transform": [step.to_settings() for step in steps]}
    tables = {name: {"transform": [step.to_settings() for step in each]} for name, each in views.items()}
    keys = {
        **table,
        "views": tables,
        "python_path": [str(drawing)],
        "python": sys.executable,
        "seed": 7,
        "shuffle": True,
    }
    named = [f"{key}={json.dumps(value)}".replace('": ', '" = ') for key, value in keys.items()]
    arguments = [part for each in named for part in ("--set", each)]
    for record, epoch in [(0, 0), (5, 0), (7, 1), (11, 1)]:
        turn = ["--record", str(record), "--epoch", str(epoch), "--output", tmp_path]
        subprocess.run([binary, "replay", jpegs, *arguments, *turn], check=True, capture_output=True)
        made = [np.load(tmp_path / f"record-{record}-epoch-{epoch}-{view}.npy") for view in ("images", "local")]
        assert hashlib.sha256(b"".join(each.tobytes() for each in made)).hexdigest() == expected[record, epoch]


@each_library
@pytest.mark.parametrize("world_size", [2, 3])
def test_rule_59_functions_make_the_same_pictures_with_any_world_size(jpegs, steps, views, expected, world_size):
    found = {}
    for rank in range(world_size):
        lockstep = forebay.Lockstep(6, rank, world_size)
        given = {"shuffle": True, "seed": 7, "epochs": EPOCHS, "python_workers": 2, "views": views}
        with forebay.Loader(jpegs, transform=steps, sharding=lockstep, **given) as loader:
            found.update(hashes(loader))
    assert found == expected


@each_library
def test_rule_59_functions_make_the_same_pictures_after_their_daemon_is_killed(
    binary, jpegs, steps, views, expected, tmp_path, monkeypatch
):
    # The service takes the first python3.
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    table = [step.to_settings() for step in steps]
    tables = {name: {"transform": [step.to_settings() for step in each]} for name, each in views.items()}
    settings = {"shuffle": True, "seed": 7, "epochs": EPOCHS, "batch_size": 2, "views": tables}
    command, socket = served(binary, tmp_path, jpegs, table, [tmp_path / "steps"], **settings)
    daemon = Daemon(command, socket)
    try:
        with forebay.Loader("stream:train", socket=daemon.socket) as loader:
            first = loader.next()
            assert hash_at(first, 0) == expected[int(first.records[0]), 0]
            daemon.kill()
            daemon.start()
            found = hashes(loader)
            audits = [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()]
        assert audits == [(0, True)] * EPOCHS
        assert found.items() <= expected.items()
        # What was in hand at the kill may come again.
        assert len(found) >= len(expected) - 2
    finally:
        daemon.end()
