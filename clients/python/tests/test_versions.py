"""A wheel and a service of different versions on one machine: what they share, and what they say if that is nothing."""

import re
import struct
from pathlib import Path

import forebay
import pytest
from processes import private_daemons
from relay import REFUSED, WELCOME, Relay, speaks

pytestmark = pytest.mark.daemon
PAGE = Path(__file__).resolve().parents[3] / "docs" / "ring.md"
PROTOCOL = int(re.search(r"newest version is\s(\d+)", PAGE.read_text())[1])
# A message to trainers that a later version may add, and its words.
LATER = struct.pack("<I", 1024 + 7) + b"what only a later version understands"


@pytest.fixture
def daemon(service, pictures):
    """The service of a package."""
    return service(pictures(8), batch_size=4, size=8, epochs=1)


@pytest.fixture
def through(daemon, tmp_path):
    """Makes the service one of another version: what it and its trainers say is changed on the way."""
    made = []

    def relay(**changes):
        made.append(Relay(tmp_path / "relayed.sock", daemon.socket, **changes))
        return made[-1]

    yield relay
    for each in made:
        each.__exit__()


def epoch_of(loader):
    """The records of an epoch, whose audit must add up."""
    records = sorted(record for batch in loader for record in batch.records[: batch.valid].tolist())
    assert all(epoch.adds_up for epoch in loader.audit())
    return records


def test_a_newer_trainer_reads_in_the_version_that_it_shares_with_the_service(through):
    relay = through(to_daemon=speaks(PROTOCOL + 1, PROTOCOL, b"what its ATTACH has more"))
    with forebay.Loader("stream:train", socket=relay.path) as loader:
        assert epoch_of(loader) == list(range(8))
    assert WELCOME in relay.kinds
    assert REFUSED not in relay.kinds


def test_a_trainer_of_the_version_before_reads_in_that_version(through):
    relay = through(to_daemon=speaks(PROTOCOL - 1, PROTOCOL - 1))
    with forebay.Loader("stream:train", socket=relay.path) as loader:
        assert epoch_of(loader) == list(range(8))
    assert WELCOME in relay.kinds
    assert REFUSED not in relay.kinds


def test_a_newer_service_may_say_what_this_trainer_does_not_know(through):
    relay = through(to_trainer=lambda packet: [LATER, packet])
    with forebay.Loader("stream:train", socket=relay.path) as loader:
        assert epoch_of(loader) == list(range(8))
    assert WELCOME in relay.kinds


def test_a_wheel_and_a_service_without_a_shared_version_say_both_and_the_wheel_s_daemon_serves(
    through, pictures, daemon
):
    versions = (
        f"this daemon speaks versions {PROTOCOL - 1} to {PROTOCOL} of the protocol, "
        f"the trainer versions {PROTOCOL + 1} to {PROTOCOL + 2}"
    )
    relay = through(to_daemon=speaks(PROTOCOL + 2, PROTOCOL + 1))
    with pytest.raises(forebay.AttachError) as refused:
        forebay.Loader("stream:train", socket=relay.path)
    assert versions in str(refused.value)
    assert str(refused.value).rstrip(".").endswith("upgrade Forebay on the daemon's side")
    # What docs/versions.md advises: a path, for which the wheel starts its own daemon beside the service.
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        assert private_daemons()
        assert daemon.process.pid not in private_daemons()
        assert epoch_of(loader) == list(range(8))


def test_a_trainer_that_is_older_than_all_that_the_service_speaks_is_told_to_upgrade(through):
    relay = through(to_daemon=speaks(PROTOCOL - 2, PROTOCOL - 2))
    with pytest.raises(forebay.AttachError, match="upgrade Forebay on the trainer's side"):
        forebay.Loader("stream:train", socket=relay.path)


def test_a_service_that_answers_in_a_version_that_was_not_asked_for_is_refused(through):
    def later(packet):
        kind = struct.unpack_from("<I", packet)[0]
        return [packet[:4] + struct.pack("<I", PROTOCOL + 1) + packet[8:]] if kind == WELCOME else [packet]

    relay = through(to_trainer=later)
    with pytest.raises(forebay.Error, match=f"version {PROTOCOL + 1} of the protocol"):
        forebay.Loader("stream:train", socket=relay.path)
