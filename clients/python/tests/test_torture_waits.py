"""The parts of the torture test that judge: unexplained waits, payloads, what was skipped, and what processes keep."""

import mmap
import os
import socket
from collections import Counter

import pytest
from torture.order import Order, stretches
from torture.payload import LENGTH, is_of, payload
from torture.remains import descriptors, differences, holdings, left_behind, rings
from torture.waits import Trouble, Wait, attached, calm, gaps, waits


@pytest.mark.parametrize(
    ("troubles", "seconds"),
    [
        ([], 10),
        ([(0, 20)], 0),
        ([(0, 10), (17, 30)], 7),
        # In any order, and one within another.
        ([(16, 17), (12, 16), (13, 14)], 3),
        ([(0, 5), (25, 30)], 10),
        ([(13, 14), (14, float("inf"))], 3),
    ],
)
def test_the_longest_part_of_a_wait_without_trouble_is_found(troubles, seconds):
    assert calm(Wait(10, 20), [Trouble(*times) for times in troubles]) == seconds


def test_times_in_which_a_group_has_no_trainer_are_found():
    assert [*gaps([])] == []
    assert [*gaps([(5, 7), (1, 3), (2, 4), (6, float("inf"))])] == [(4, 5)]


def test_waits_and_attachments_are_read_from_journals(tmp_path):
    journal = tmp_path / "journal"
    journal.write_text("began\nattached 3.5\nwaited 3.250 4.500\ngot 0 1 2\nattached 7.0\n")
    assert [*waits(journal)] == [(3.25, 4.5)]
    assert (attached(journal, 1), attached(journal, 3.5), attached(journal, 7)) == (3.5, 7, None)


def test_a_payload_is_of_its_record_and_whole():
    right = payload(7)
    assert len(right) == LENGTH
    assert is_of(right, 7)
    assert not is_of(right, 8)
    assert not is_of(right[:-1], 7)
    # Half of it is of another record's picture.
    assert not is_of(right[: LENGTH // 2] + payload(8)[LENGTH // 2 :], 7)


def test_what_a_process_is_left_with_is_named():
    before = holdings(os.getpid())
    assert [*differences(before, before)] == []
    with socket.socket():
        (found,) = differences(before, holdings(os.getpid()))
    assert "descriptors of socket, and had" in found
    assert [*differences(Counter(memory=4096), Counter(memory=8192))] == [
        "the daemon has 8192 memory, and had 4096 before there were trainers"
    ]


def test_what_a_trainer_has_of_dead_daemons_is_named(tmp_path):
    pid, before = os.getpid(), rings(os.getpid())
    usual = descriptors(pid, tmp_path)
    with (tmp_path / "journal").open("w"):
        assert [*left_behind(pid, tmp_path, usual, before)] == ([] if before else ["it maps no ring of its daemon"])
    ring = os.memfd_create("forebay")
    os.ftruncate(ring, 4096)
    with mmap.mmap(ring, 4096, mmap.MAP_SHARED, mmap.PROT_READ):
        (live,) = rings(pid) - before
        with socket.socket():
            (_, found) = left_behind(pid, tmp_path, usual, {live, *before})
        # The mapping keeps the ring's descriptor for itself.
        assert "descriptors of socket, and one that has just come has" in found
        found = [*left_behind(pid, tmp_path, descriptors(pid, tmp_path), {-1, *before})]
        assert "it maps 1 rings that its daemon does not have" in found
    os.close(ring)


def journal_of(folder, name, *batches):
    """A journal of these batches, by daemon, number and epoch, each with its own records. Other lines stay the same."""
    lines = []
    for batch in batches:
        if isinstance(batch, str):
            lines.append(batch)
            continue
        daemon, number, epoch, *what = batch
        shown = "-" if name == "python" else number
        lines += [f"of {daemon} {shown}", f"{what[0] if what else 'got'} {epoch} {number * 2} {number * 2 + daemon}"]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


@pytest.mark.parametrize(
    ("batches", "skipped"),
    [
        ([(8, 1, 0), (8, 2, 0), (8, 3, 1), (9, 4, 1), (9, 5, 1)], []),
        ([(8, 1, 0), (8, 3, 1)], [2]),
        # What comes later is of the same group, and what comes first may be in the middle.
        ([(8, 2, 0), (8, 1, 0), (8, 3, 1)], []),
        ([(8, 3, 1), (8, 4, 1)], []),
        # A rejected batch may not come again before the daemon ends. After another attachment it is another group.
        ([(8, 1, 0), (8, 2, 0, "rejected"), (8, 3, 1)], []),
        ([(8, 1, 0), "attached 7.5", (8, 3, 1)], []),
        # Nobody has had 7. It may be of an epoch that goes on, unless a later one has begun and ended.
        ([(9, 4, 1), (9, 6, 2), (9, 5, 1)], []),
        ([(9, 4, 1), (9, 5, 1), (9, 6, 2), (9, 8, 2), (9, 9, 3), (9, 10, 4)], [7]),
    ],
)
@pytest.mark.parametrize("name", ["c", "python"])
def test_what_a_trainer_without_a_named_group_was_not_given_is_found(tmp_path, name, batches, skipped):
    of_8 = [(8, number, epoch) for number, epoch in ((1, 0), (2, 0), (3, 1), (4, 1))]
    of_9 = [(9, number, epoch) for number, epoch in ((4, 1), (5, 1), (6, 2), (8, 2), (9, 3), (10, 4))]
    other = journal_of(tmp_path, "rust", *of_8, *of_9)
    journal = journal_of(tmp_path, name, "began", *batches)
    order = Order([other, journal])
    assert [number for stretch in stretches(journal) for number in order.skipped(stretch)] == skipped
