"""What counts as growth."""

from __future__ import annotations

import os
import threading

import pytest
from growth import Held, growth, held

MIB = 1 << 20


def test_a_process_that_stays_as_it_is_has_not_grown():
    assert growth([Held(100 * MIB + look % 3 * MIB, 20, 8) for look in range(40)]) == []


def test_what_a_process_takes_while_it_starts_is_no_growth():
    looks = [Held(look * 20 * MIB, look, look) for look in range(10)] + [Held(200 * MIB, 10, 10)] * 30
    assert growth(looks) == []


def test_a_descriptor_more_in_each_look_is_named():
    assert growth([Held(100 * MIB, 20 + look, 8) for look in range(40)]) == [
        "descriptors grew from at most 39 to at least 50"
    ]


def test_threads_and_memory_that_grow_slowly_are_named():
    looks = [Held(100 * MIB + look * MIB, 20, 8 + look // 10) for look in range(100)]
    assert [line.split()[0] for line in growth(looks)] == ["memory", "threads"]


def test_a_peak_at_the_end_is_no_growth():
    assert growth([Held(100 * MIB, 20, 8)] * 39 + [Held(900 * MIB, 90, 90)]) == []


def test_too_few_looks_say_nothing():
    with pytest.raises(ValueError, match="run for longer"):
        growth([Held(MIB, 20, 8)] * 11)


def test_a_look_counts_descriptors_and_threads_of_a_process():
    before, done = held(os.getpid()), threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    with open(os.devnull):
        after = held(os.getpid())
    done.set()
    thread.join()
    assert after.memory > 0
    assert (after.descriptors - before.descriptors, after.threads - before.threads) == (1, 1)
