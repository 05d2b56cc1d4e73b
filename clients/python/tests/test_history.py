"""The findings of the torture test, for histories with a known mistake."""

import re

import pytest
from forebay.audit import EpochAudit
from torture.history import History


def audit(epoch=0, delivered=4, repeats=(), adds_up=True):
    return EpochAudit(epoch, delivered, 0, 0, 0, dict(repeats), True, adds_up)


@pytest.fixture
def found(tmp_path):
    """Findings of a journal with these lines, in an epoch of 4 records."""

    def found(lines, *audits):
        journal = tmp_path / "journal"
        journal.write_text("".join(f"{line}\n" for line in lines))
        history = History().read(journal)
        return [*history.missing(audits, 4), *history.unnamed(audits)]

    return found


def test_every_record_once_is_no_finding(found):
    assert found(["got 0 2 1", "got 0 3 0"], audit()) == []


def test_a_record_that_nobody_had_is_one(found):
    assert "no trainer had [3]" in found(["got 0 2 1", "got 0 0"], audit())[0]


def test_an_audit_that_does_not_add_up_is_one(found):
    assert "once" in found(["got 0 0 1 2 3"], audit(adds_up=False))[0]
    assert "once" in found(["got 0 0 1 2 3"], audit(delivered=3))[0]


def test_a_repetition_is_one_unless_the_audit_names_it(found):
    lines = ["got 0 0 1", "got 0 0 1", "got 0 2 3"]
    assert "2 repetitions, of which the audit names 1" in found(lines, audit(repeats={"daemon_died": 1}))[0]
    assert found(lines, audit(repeats={"daemon_died": 1, "trainer_ended": 1})) == []


def test_what_is_counted_after_a_state_is_undone_with_it_but_for_epochs_that_were_complete(found):
    # The state has the last batch of epoch 0 in hand: in the ledger, that epoch was open.
    with_last_batch = ["got 0 0 1", "got 0 2 3", "state 7 1", "got 0 2 3", "got 1 0 1", "loaded 7", "got 1 0 1 2 3"]
    assert found(with_last_batch, audit(), audit(1)) == []
    # Here it was complete, and a repetition that was counted before stays.
    complete = ["got 0 0 1", "got 0 2 3", "got 0 2 3", "got 1 0 1", "state 7 1", "got 1 2 3", "loaded 7", "got 1 2 3"]
    assert "2 repetitions, of which the audit names 0" in found(complete, audit(), audit(1))[0]
    assert found(complete, audit(repeats={"daemon_died": 2}), audit(1)) == []


def test_pixels_of_another_record_are_one(tmp_path):
    journal = tmp_path / "journal"
    journal.write_text("got 0 0 1\nwrong 0 0 1\ngot 0 2 3\n")
    assert [*History().read(journal).wrong()] == ["1 times the pixels of a batch were not those of its records"]
    journal.write_text("got 0 0 1\n")
    assert [*History().read(journal).wrong()] == []


@pytest.mark.parametrize(
    ("lines", "account", "words"),
    [
        (["got 0 0 1 2 3", "got 1 0 1 2 3"], {"records": 4, "missed": None}, None),
        (["got 0 0", "got 1 0 1"], {"records": 2, "missed": {"records": 2}}, None),
        (["got 0 0", "got 1 0 1"], {"records": 2, "missed": {"records": 1}}, r"did not have \[2, 3\]"),
        (["got 0 0", "got 1 0 1"], {"records": 3, "missed": {"records": 2}}, "had 2 records, and the audit counts 3"),
    ],
)
def test_what_a_group_did_not_have_is_one_unless_the_audit_says_that_it_missed_it(tmp_path, lines, account, words):
    journal = tmp_path / "journal"
    journal.write_text("".join(f"{line}\n" for line in lines))
    found = [*History().read(journal).uncovered({1: account}, [0, 1], 4)]
    assert len(found) == (words is not None)
    if words:
        assert re.search(words, found[0])


def test_what_came_after_a_state_is_no_part_of_the_run_that_goes_back_to_it(found):
    gone_back = ["got 0 0 1", "state 0 0", "got 0 2 3", "loading 0", "loaded 0"]
    assert found([*gone_back, "got 0 3 2"], audit()) == []
    assert "no trainer had [2, 3]" in found(gone_back, audit())[0]
    assert "2 repetitions" in found([*gone_back, "got 0 0 1 2 3"], audit())[0]


def test_an_epoch_that_was_complete_in_a_state_is_audited_as_it_was_run_last(found):
    twice = ["state 0 0", "got 0 0 1 2 3", "got 0 0 1", "state 1 1", "loading 0", "loaded 0", "got 0 0 1 2 3"]
    assert found([*twice, "loading 1", "loaded 1"], audit()) == []


def test_a_repetition_of_before_a_state_is_one_after_it_was_loaded(found):
    lines = ["began", "got 0 0 1", "began", "state 0 0", "got 0 0 1", "loading 0", "loaded 0", "got 0 0 1", "got 0 2 3"]
    assert "2 repetitions, of which the audit names 0" in found(lines, audit())[0]
    assert found(lines, audit(repeats={"trainer_ended": 2})) == []
