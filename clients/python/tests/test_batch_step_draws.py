"""The draws of functions of batches: those of a batch's first record, whatever is killed (semantics rule 59)."""

import os
import signal
import sys

import forebay
import numpy as np
import pytest
from batch_functions import BEFORE, of_batches
from processes import Daemon, children, private_daemons
from test_python_steps_service import served

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

EPOCHS = 2
STAMPS = """
import random

import numpy as np

class Own:
    def __init__(self):
        self.generator = random.Random()

    def set_random_seed(self, seed):
        self.generator.seed(seed)

own = Own()

def stamp(batch):
    batch.images[:, 0, 0] = list(batch.seed.to_bytes(16, "little")[:3])
    batch.images[:, 0, 1] = [random.randrange(256) for _ in range(3)]
    batch.images[:, 0, 2] = np.random.randint(0, 256, 3)
    batch.images[:, 0, 3] = batch.rng().integers(0, 256, 3)
    batch.images[:, 0, 4] = own.generator.randrange(256)
    batch.images[:, 0, 5] = batch.epoch
"""


@pytest.fixture
def steps(batch_module):
    return [*BEFORE, of_batches(f"{batch_module(STAMPS)}:stamp", seeded=["my_batches:own"])]


@pytest.fixture
def expected(jpegs, steps):
    """What the first row of a batch is that begins with each record, and what is below in each picture."""
    stamps, below = {}, {}
    given = {"batch_size": 1, "shuffle": True, "seed": 5, "epochs": EPOCHS, "python_workers": 1}
    with forebay.Loader(jpegs, transform=steps, **given) as loader:
        for _ in range(EPOCHS):
            for batch in loader:
                turn = int(batch.records[0]), batch.epoch
                stamps[turn] = np.array(batch.images[0, 0, :6]).tobytes()
                below[turn] = np.array(batch.images[0, 1:]).tobytes()
    assert len(set(stamps.values())) == len(stamps) == 12 * EPOCHS
    return stamps, below


def check(batch, expected):
    """A batch has the draws of its first record, and its pictures are as they were else. Gives its turns."""
    stamps, below = expected
    own = np.flatnonzero(batch.mask)
    first = int(batch.records[own[0]]), batch.epoch
    turns = [(int(batch.records[place]), batch.epoch) for place in own]
    for place, turn in zip(own, turns):
        assert batch.images[place, 0, :6].tobytes() == stamps[first]
        assert np.ascontiguousarray(batch.images[place, 1:]).tobytes() == below[turn]
    return turns


def callers():
    """The processes that call functions for this process's own daemons."""
    of = [children(daemon) for daemon in private_daemons()]
    return [child for each in of for child, command in each if "forebay_step" in command]


@pytest.mark.parametrize(("workers", "kills"), [(1, False), (4, False), (2, True)])
def test_rule_59_the_draws_of_a_batch_are_those_of_its_first_record_also_if_children_are_killed(
    jpegs, steps, expected, workers, kills
):
    given = {"batch_size": 3, "shuffle": True, "seed": 5, "epochs": EPOCHS, "python_workers": workers}
    turns = []
    with forebay.Loader(jpegs, transform=steps, **given) as loader:
        for _ in range(EPOCHS):
            for batch in loader:
                turns += check(batch, expected)
                for child in callers() if kills else ():
                    os.kill(child, signal.SIGKILL)
        assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(0, True)] * EPOCHS
    assert sorted(turns) == sorted(expected[0])


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_rule_59_the_draws_of_a_batch_are_those_of_its_first_record_at_any_world_size(
    jpegs, steps, expected, world_size
):
    turns = []
    for rank in range(world_size):
        lockstep = forebay.Lockstep(6, rank, world_size)
        given = {"shuffle": True, "seed": 5, "epochs": EPOCHS, "python_workers": 2}
        with forebay.Loader(jpegs, transform=steps, sharding=lockstep, **given) as loader:
            for _ in range(EPOCHS):
                for batch in loader:
                    turns += check(batch, expected)
    assert sorted(turns) == sorted(expected[0])


def test_rule_59_batches_are_the_same_after_their_daemon_is_killed(
    binary, jpegs, steps, expected, tmp_path, monkeypatch
):
    # The service takes the first python3.
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    table = [step.to_settings() for step in steps]
    settings = {"shuffle": True, "seed": 5, "epochs": EPOCHS, "batch_size": 3}
    command, socket = served(binary, tmp_path, jpegs, table, [tmp_path / "steps"], **settings)
    daemon = Daemon(command, socket)
    turns = set()
    try:
        with forebay.Loader("stream:train", socket=daemon.socket) as loader:
            turns.update(check(loader.next(), expected))
            daemon.kill()
            daemon.start()
            for _ in range(EPOCHS):
                for batch in loader:
                    turns.update(check(batch, expected))
            assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(0, True)] * EPOCHS
        assert turns == set(expected[0])
    finally:
        daemon.end()


TORCH = """
import random

class Generator:
    def __init__(self):
        self.drawn = random.Random(0)

    def manual_seed(self, seed):
        self.drawn.seed(seed)

class Tensor:
    pass

default_generator = Generator()
"""
LATE = """
def late(batch):
    batch.images[...] = 255 - batch.images
    import torch

    batch.images[:, 0, 0, 0] = torch.default_generator.drawn.randrange(256)
"""


def test_rule_59_a_function_of_batches_that_imports_torch_late_is_called_again_with_the_batch_as_it_was(
    jpegs, batch_module
):
    # The children find this one before any other.
    batch_module(TORCH, "torch")
    given = {"batch_size": 3, "seed": 5, "epochs": 1, "python_workers": 1}
    made = []
    for name, code in (("my_late", LATE), ("my_early", "import torch\n" + LATE)):
        step = of_batches(f"{batch_module(code, name)}:late")
        with forebay.Loader(jpegs, transform=[*BEFORE, step], **given) as loader:
            made.append([np.array(batch.images) for batch in loader])
    assert np.array_equal(*made)
