"""Streams with buckets that daemons of several nodes share without lockstep (semantics rules 15, 36, 41 and 62)."""

import json
import subprocess
import threading
from collections import Counter
from contextlib import ExitStack

import forebay
import pytest
from coordinators import complete
from processes import PATIENCE, Daemon
from sized import BUCKETS, check, own

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SETTINGS = {"buckets": BUCKETS, "batch_size": 4, "shuffle": True, "seed": 3, "epochs": 2}
# An epoch has 23 steps, and a lease has one.
STREAM = {"lease_size": 4, "trainers": 1}
COUNT = 90


@pytest.fixture
def configured(binary, tmp_path, coordinator):
    """Writes the configuration of a node, and gives the command of its daemon and the folder of its socket."""

    def write(name, sized, **settings):
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        keys = {"source": str(sized.folder), "index": str(sized.index), **SETTINGS, **STREAM, **settings}
        lines = [f"{key} = {json.dumps(value)}".replace('": ', '" = ') for key, value in keys.items()]
        config = folder / "forebay.toml"
        config.write_text(
            f'[control]\ndir = "{folder}"\n[coordinator]\nendpoint = "{coordinator.address}"\nnode = "{name}"\n'
            # A daemon leases what it reads ahead. With more, one of the two may have a whole epoch.
            '[prefetch]\nbudget = "16kb"\nleases_ahead = 1\n[streams.train]\n' + "\n".join(lines) + "\n"
        )
        return [binary, "serve", "--config", str(config)], folder

    return write


@pytest.fixture
def node(configured):
    """Starts daemons of a cluster, each named as its node, and ends them with the test."""
    running = []

    def start(name, sized):
        command, folder = configured(name, sized)
        running.append(Daemon(command, folder / "forebay.sock"))
        return running[-1]

    yield start
    for daemon in running:
        daemon.end()


class Job:
    """Trainers that read both epochs of the stream, each at its node.

    Attributes:
        steps: What they got, in the order in which they got it: epoch, records and height and width.
    """

    def __init__(self, sized, at=0, event=lambda: None):
        self.sized, self.at, self.event = sized, at, event
        self.steps, self.readers, self.error = [], set(), None
        # Neither begins with its second batch before the other one has its first.
        self.begun = threading.Barrier(2)
        self.lock = threading.Lock()

    def read(self, *loaders):
        """The steps of each epoch. At one of them, the event happens."""
        threads = [threading.Thread(target=self.trainer, args=(loader,), daemon=True) for loader in loaders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE)
            assert not thread.is_alive(), "a trainer waits for ever"
        if self.error is not None:
            raise self.error
        assert len(self.readers) == len(loaders)
        assert len(self.steps) > self.at
        return [Counter(step[1:] for step in self.steps if step[0] == epoch) for epoch in range(2)]

    def trainer(self, loader):
        """A trainer."""
        try:
            for _ in range(2):
                for batch in loader:
                    self.note(batch)
                    if id(loader) not in self.readers:
                        self.readers.add(id(loader))
                        self.begun.wait(PATIENCE)
        except BaseException as error:
            self.error = error

    def note(self, batch):
        """A trainer has a batch."""
        check(self.sized, batch)
        assert len(own(batch)) == batch.planned[0], "a step has one trainer"
        with self.lock:
            self.steps.append((batch.epoch, *step_of(batch)))
            if len(self.steps) == self.at:
                self.event()


def step_of(batch):
    return tuple(own(batch)), batch.images.shape[1:3]


def steps_alone(sized):
    """The records and the shape of each step, as one trainer alone gets them."""
    with sized.loader(**SETTINGS) as loader:
        return [Counter(map(step_of, loader)) for _ in range(2)]


def test_rule_62_two_nodes_share_an_epoch_in_whole_steps_of_one_bucket(node, sized, coordinator):
    sized = sized(COUNT)
    daemons = [node(name, sized) for name in ("one", "two")]
    expected = steps_alone(sized)
    with ExitStack() as stack:
        loaders = [stack.enter_context(forebay.Loader("train", socket=daemon.socket)) for daemon in daemons]
        assert Job(sized).read(*loaders) == expected
    epochs = coordinator.audit()
    assert len(epochs) == 2
    assert complete(epochs, COUNT)


@pytest.mark.parametrize("at", [2, 9, 20, 30])
def test_rule_62_a_daemon_that_is_killed_gives_back_whole_steps(node, sized, coordinator, at):
    sized = sized(COUNT)
    daemons = [node(name, sized) for name in ("one", "two")]
    expected = steps_alone(sized)

    def kill():
        daemons[1].kill()
        daemons[1].start()

    with ExitStack() as stack:
        loaders = [stack.enter_context(forebay.Loader("train", socket=daemon.socket)) for daemon in daemons]
        # Its trainer comes back with what it holds, so nothing is repeated.
        assert Job(sized, at, kill).read(*loaders) == expected
    epochs = coordinator.audit()
    assert complete(epochs, COUNT)
    assert len(epochs) == 2


def test_rule_62_what_a_node_had_that_never_comes_back_goes_to_another_one_in_whole_steps(node, sized, coordinator):
    sized = sized(COUNT)
    coordinator.kill()
    coordinator.start("--lease-ttl", "2s")
    daemons = [node(name, sized) for name in ("one", "two")]
    expected, _ = steps_alone(sized)
    with ExitStack() as stack:
        stays, goes = [stack.enter_context(forebay.Loader("train", socket=daemon.socket)) for daemon in daemons]
        steps = [step_of(batch) for batch in (goes.next(), goes.next())]
        daemons[1].kill()
        found = Counter(map(step_of, stays))
    # Its trainer consumed the first of its steps, and had the second in hand.
    assert set(found) <= set(expected), "each step is one of the plan"
    assert set(expected) - set(found) <= set(steps)
    assert set(found.values()) == {1}
    assert complete(coordinator.audit()[:1], COUNT)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"buckets": [*BUCKETS, "20x10"]}, "the table of classes was "),
        ({"buckets": {"rule": BUCKETS, "leftovers": "repeat"}}, "leftovers was neighbour and is now repeat"),
        ({"batch_size": 2}, "the places of the steps of each class was 4, 4, 4 and is now 2, 2, 2"),
        ({"repeats": 2}, "the repeats of each source was none and is now 2"),
    ],
    ids=["rule", "leftovers", "places", "repeats"],
)
def test_rule_41_a_daemon_with_other_buckets_is_refused_with_both_values(
    node, configured, sized, coordinator, settings, said
):
    sized = sized(COUNT)
    with forebay.Loader("train", socket=node("one", sized).socket) as loader:
        first = own(loader.next())
        command, _ = configured("two", sized, **settings)
        other = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        assert other.returncode != 0
        assert said in other.stderr
        # The refusal has no effect on it.
        rest = [record for batch in loader for record in own(batch)]
        assert sorted(first + rest) == list(range(COUNT))
    assert complete(coordinator.audit()[:1], COUNT)
