"""Medians, ratios and goals of made-up figures, and what the peers' scripts have."""

import ast
from pathlib import Path

import operations
import pytest
import timing

PEERS = Path(operations.__file__).parent / "peers"


def test_a_median_is_of_what_went_well_in_every_round():
    rounds = [{"hue": 3.0, "flip": 1.0}, {"hue": 9.0}, {"hue": 4.0, "flip": 2.0}]
    assert operations.medians(rounds) == {"hue": 4.0}
    assert operations.medians([]) == {}


def test_ratios_are_the_rival_s_time_over_ours():
    figures = {"Forebay": {"hue": 20.0, "flip": 4.0, "pad": 1.0}, "AlbumentationsX": {"hue": 30.0, "flip": 1.0}}
    assert operations.ratios(figures) == {"hue": 1.5, "flip": 0.25}
    assert operations.ratios({"Forebay": {"hue": 1.0}}) == {}


def test_the_goals_are_four_of_five_operations_and_none_under_half():
    found = {"hue": 1.5, "gray": 1.0, "rotate": 2.0, "erase": 3.0, "flip": 0.25}
    assert operations.operation_goals(found) == [
        "as fast as AlbumentationsX or faster: 4 of 5 operations (goal: 80%, met)",
        "least ratio: 0.25, flip (goal: 0.5, missed)",
    ]
    assert "missed" in operations.operation_goals({**found, "gray": 0.99})[0]
    assert operations.operation_goals({}) == ["goals: AlbumentationsX was not measured"]


def test_decoding_is_held_against_the_fastest_other():
    rates = {"Forebay": 900.0, "torchcodec": 400.0, "Pillow-SIMD": 500.0}
    assert operations.decode_goal(rates) == "1.80 x Pillow-SIMD, the fastest of the others (goal: 1.8, met)"
    assert "missed" in operations.decode_goal({**rates, "torchcodec": 501.0})
    assert operations.decode_goal({"Forebay": 900.0}) == "goal: not enough decoders were measured"


@pytest.mark.parametrize("peer", operations.FUNCTIONS, ids=lambda peer: peer.name)
def test_peers_measure_no_operation_that_the_table_does_not_have(peer):
    script = ast.parse((PEERS / peer.script).read_text())
    call = script.body[-1].value
    measured = [key.value for key in call.args[0].keys]
    assert set(measured) <= set(operations.OPERATIONS)
    assert len(measured) == len(set(measured)) >= 17
    if peer.name in ("Forebay", "AlbumentationsX"):
        assert list(measured) == list(operations.OPERATIONS)


def test_the_picture_is_the_same_for_all_and_has_many_values():
    first, second = timing.picture(), timing.picture()
    assert first.shape == (224, 224, 3)
    assert (first == second).all()
    assert all(len(set(first[..., channel].flat)) > 150 for channel in range(3))


def test_a_rate_and_a_time_are_above_zero():
    assert timing.microseconds(lambda: sum(range(1000)), 0.001) > 0
    assert timing.rate([b"a", b"b"], len) > 0
