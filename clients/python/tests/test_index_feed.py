"""The queue of single records that several processes read, while the process that fills it drops what is in it."""

import contextlib
import itertools
import os
import signal
import threading
from pathlib import Path

import pytest
from forebay import Error, Evicted
from forebay.sharding.indices import IndexFeed
from forebay.sharding.shard import TRAINING, Shard, Task
from processes import wait_until


def task(number, restores=0):
    """A shard of ten records."""
    return Task(number, Shard("mnist", 10 * number, 10 * number + 10), 0, TRAINING, restores)


def records(feed):
    """All that there is until the end."""
    found = []
    with contextlib.suppress(StopIteration):
        while True:
            found.append(feed.get())
    return found


def forked(read):
    """Calls a function in a forked child until the child is killed."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                read()
        finally:
            os._exit(1)
    return child


def kill(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def is_asleep(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def within_a_minute(act):
    """What a call returns. One that never does would stop all tests."""
    answer = []
    thread = threading.Thread(target=lambda: answer.append(act()), daemon=True)
    thread.start()
    thread.join(60)
    assert answer, "it waits for what never comes"
    return answer[0]


def test_clearing_never_waits_for_a_process_that_takes_the_last_record():
    fetched = map(task, itertools.count())
    feed = IndexFeed(lambda: next(fetched), lambda _: True)
    answer, told = os.pipe()
    children = [forked(lambda: os.write(told, b"%d " % feed.get())) for _ in range(2)]

    def clear():
        for _ in range(300):
            os.read(answer, 64)
            feed.clear()
        return "cleared"

    try:
        assert within_a_minute(clear) == "cleared"
    finally:
        for child in children:
            kill(child)
        os.close(answer)
        os.close(told)


def test_a_process_that_is_killed_while_it_waits_stops_no_other():
    may_fetch = threading.Event()
    given = [task(0), None]

    def fetch():
        may_fetch.wait()
        return given.pop(0)

    feed = IndexFeed(fetch, lambda _: True)
    asking, told = os.pipe()
    child = forked(lambda: (os.write(told, b"!"), feed.get()))
    os.read(asking, 1)
    wait_until(lambda: is_asleep(child))
    kill(child)
    os.close(asking)
    os.close(told)
    may_fetch.set()
    assert within_a_minute(lambda: records(feed)) == list(range(10))


def test_a_client_that_cannot_go_on_tells_all_who_ask_why():
    def fail():
        raise Evicted("another process has taken the worker's name")

    feed = IndexFeed(fail, lambda _: True)
    for _ in range(2):
        with pytest.raises(Error, match="another process has taken"):
            feed.get()


def test_an_end_that_a_process_puts_back_after_a_restore_is_none():
    given = [None]
    feed = IndexFeed(lambda: given.pop(0), lambda _: True)
    # Another process has taken the end, and stands still before it puts the end back for the others.
    taken = feed._take()
    with feed.restoring():
        given[:] = [task(0), None]
        feed._write(*taken)
    assert records(feed) == list(range(10))
    assert records(feed) == [], "the end of now stays for all who ask"


def test_a_restore_drops_no_record_of_the_state_that_it_went_back_to():
    given, restores, asked = [task(0)], [0], []

    def fetch():
        asked.append(True)
        wait_until(lambda: given)
        return given.pop(0)

    feed = IndexFeed(fetch, lambda each: each.restores == restores[0])
    assert feed.get() == 0
    wait_until(lambda: len(asked) == 2)
    with feed.restoring():
        restores[0] = 1
        given.extend([task(3, restores=1), task(4, restores=1), None])
        # The thread has one of the new tasks now, before the queue is cleared.
        wait_until(lambda: len(given) < 3)
    assert records(feed) == list(range(30, 50))


def test_what_was_cleared_gives_its_room_back():
    fetched = map(task, itertools.count())
    feed = IndexFeed(lambda: next(fetched), lambda _: True)
    for _ in range(5):
        seen = feed.get()
        # It is full: the thread waits for room.
        wait_until(lambda: feed._room.get_value() == 0)
        feed.clear()
        assert feed.get() > seen + 60
