"""Medians and spreads of made-up rounds."""

import pytest
from compare.figures import Figure, Outcome, best, outcome


def rates(**medians):
    return {name: Outcome(Figure.of([median])) for name, median in medians.items()}


def test_the_median_counts_and_the_spread_is_half_the_distance_from_least_to_most():
    figure = Figure.of([90.0, 130.0, 100.0])
    assert (figure.median, figure.least, figure.most, figure.rounds) == (100.0, 90.0, 130.0, 3)
    assert figure.spread == pytest.approx(0.2)


def test_an_even_number_of_rounds_takes_the_middle_of_two():
    assert Figure.of([1.0, 4.0, 2.0, 3.0]).median == 2.5


def test_one_failed_round_leaves_no_figure():
    assert outcome([100.0, 110.0], ["it fell over"]) == Outcome(None, "it fell over")
    assert outcome([], []) == Outcome(None, "not run")


def test_the_best_is_looked_for_among_those_that_have_a_figure():
    found = {**rates(DALI=120.0, slow=80.0), "absent": Outcome(None, "no wheel")}
    assert best(found, ["slow", "DALI", "absent", "unheard of"]) == ("DALI", 120.0)
    assert best(found, ["absent"]) is None
