"""The table of made-up results."""

from compare.contest import Results, read
from compare.entrants import ENTRANTS, Entrant
from compare.figures import Figure, Outcome
from compare.goals import GOALS, Goal, line
from compare.table import markdown, rows
from compare.works import WORKS

OURS = Entrant("ours", "a.py", "a", "a", "all of it", kind="ours")
PEER = Entrant("peer", "b.py", "b", "b", "as shown | in its guide")
ABSENT = Entrant("absent", "c.py", "c", "c", "never seen", works=("train",))
TRAIN = WORKS["train"]
FOUND = {
    "peer": Outcome(Figure.of([100.0, 110.0, 120.0])),
    "ours": Outcome(Figure.of([2000.0, 2100.0, 1900.0])),
    "absent": Outcome(None, "pip cannot install it"),
}


def test_the_fastest_stands_first_and_what_is_missing_last_with_its_reason():
    assert rows(TRAIN, [ABSENT, PEER, OURS], FOUND)[2:] == [
        "| **ours** | this project | 2,000 | ± 5.0% | 3 | all of it |",
        "| peer | as documented | 110 | ± 9.1% | 3 | as shown \\| in its guide |",
        "| absent | as documented | - | - | - | not measured: pip cannot install it |",
    ]


def test_small_figures_keep_a_digit():
    assert "| 23.5 |" in rows(TRAIN, [PEER], {"peer": Outcome(Figure.of([23.46]))})[2]


def test_an_entrant_that_does_not_do_a_work_has_no_row_in_it():
    assert len(rows(WORKS["eval"], [ABSENT, PEER], FOUND)) == 3


def test_a_goal_against_several_is_held_against_the_fastest():
    found = {"train": {**FOUND, "other": Outcome(Figure.of([1000.0]))}}
    assert line(Goal("train", "ours", ("peer", "other"), 1.5), found) == "| train | ours | other | 1.50 | 2.00 | yes |"
    assert line(Goal("train", "ours", ("absent",), 1.5), found) == "| train | ours | absent | 1.50 | not measured |  |"


def test_a_goal_beside_another_work_needs_both():
    goal = Goal("trivial", "ours", ("ours",), 0.85, beside="train")
    found = {"train": FOUND, "trivial": {"ours": Outcome(Figure.of([1600.0]))}}
    assert line(goal, found) == "| trivial | ours | ours, train | 0.85 | 0.80 | no |"
    assert "not measured" in line(goal, {**found, "train": {}})
    assert goal.works == {"train", "trivial"}


def test_the_page_has_conditions_tables_and_goals():
    page = markdown({"machine": "a small one"}, [TRAIN], [OURS, PEER], {"train": FOUND})
    assert "- machine: a small one\n" in page
    assert "## train: RandomResizedCrop(224)" in page
    assert page.count("not measured") == sum(goal.work == "train" for goal in GOALS)


def test_a_turn_that_ends_without_a_result_gives_the_last_thing_it_said():
    assert read("", "Traceback\nValueError: no\n\n", 1) == {"reason": "ended with status 1: ValueError: no"}
    assert read('noise\n{"pictures": 3, "seconds": 1.5}\n', "", 0) == {"pictures": 3, "seconds": 1.5}


def test_turns_come_together_by_work_and_entrant():
    turns = [
        {"work": "train", "entrant": "ours", "pictures": 100, "seconds": 2.0},
        {"work": "eval", "entrant": "ours", "pictures": 9, "seconds": 1.0},
        {"work": "train", "entrant": "ours", "pictures": 60, "seconds": 1.0},
    ]
    assert Results(turns).outcomes(TRAIN, [OURS])["ours"].figure == Figure(55.0, 50.0, 60.0, 2)


def test_goals_name_entrants_that_take_part_in_their_work():
    taking_part = {(work, entrant.name) for entrant in ENTRANTS for work in entrant.works}
    assert {(goal.work, goal.ours) for goal in GOALS} <= taking_part
    assert {(goal.beside or goal.work, name) for goal in GOALS for name in goal.against} <= taking_part
    assert {work for work, _ in taking_part} == WORKS.keys()
