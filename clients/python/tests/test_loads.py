"""Which load id a Loader gives when it loads a state, and from whom it has it."""

import types

import pytest
from forebay import frameworks
from forebay.batches import Batches
from forebay.errors import SettingsError
from forebay.state import pack

STATE = pack(1, 2, b"snapshot")


class Recorded(Batches):
    """A loader without a daemon, which notes what it loads."""

    def __init__(self, *, shared):
        self.loaded = []
        session = types.SimpleNamespace(restore=lambda *given: self.loaded.append(given))
        self._feed = types.SimpleNamespace(session=session, shared=shared)


@pytest.fixture
def ids(monkeypatch):
    """What the ranks of a job have in common, and how often they were asked."""
    asked = []
    monkeypatch.setattr(frameworks, "common_id", lambda: asked.append(1) or "drawn")
    return asked


def test_rule_38_ranks_of_a_shared_stream_load_with_the_id_of_the_first_one(ids):
    loader = Recorded(shared=True)
    loader.load_state_dict(STATE)
    assert loader.loaded == [(1, 2, b"snapshot", "drawn")]
    assert len(ids) == 1


def test_rule_38_an_id_that_the_caller_gives_needs_no_other_rank(ids):
    loader = Recorded(shared=True)
    loader.load_state_dict(STATE, load_id="mine")
    assert loader.loaded == [(1, 2, b"snapshot", "mine")]
    assert not ids
    with pytest.raises(SettingsError, match="load_id"):
        loader.load_state_dict(STATE, load_id="")


def test_rule_38_a_rank_with_a_stream_or_shard_of_its_own_waits_for_nobody(ids):
    loader = Recorded(shared=False)
    loader.load_state_dict(STATE)
    assert loader.loaded == [(1, 2, b"snapshot", "")]
    assert not ids


def test_rule_38_a_state_that_one_rank_cannot_read_keeps_no_other_rank_waiting(ids):
    loader = Recorded(shared=True)
    with pytest.raises(SettingsError):
        loader.load_state_dict({})
    assert len(ids) == 1, "its part of the broadcast is done"
