"""Children that call functions in Python are killed at any moment: no record is lost or has other pixels (rule 59)."""

import contextlib
import os
import random
import signal
import threading

import forebay
import numpy as np
import pytest
from forebay import transforms
from processes import children, private_daemons

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

EPOCHS = 4
BAD = 5

CODE = """
import os
import random
import signal
import sys

import numpy as np

def draw(picture, sample):
    if sample.record == 5 and os.path.exists(__file__ + ".faults"):
        os.kill(os.getpid(), signal.SIGSEGV)
    picture[0] = random.randrange(256)
    picture[1] = np.random.randint(256)
    picture[2] = sample.rng().integers(256)
    return picture + np.uint8(1)

def ends_behind_its_answer(picture, sample):
    child = sys.modules["forebay_child"]
    mark = f"{__file__}.{sample.record}"
    if not os.path.exists(mark):
        open(mark, "x").close()
        send = child.Daemon.send

        def last(daemon, kind, *bodies):
            if kind == child.DONE:
                daemon.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            send(daemon, kind, *bodies)

        child.Daemon.send = last
    return picture + np.uint8(1)
"""


@pytest.fixture
def function(tmp_path, monkeypatch):
    """The functions of a module of this test, by their names."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_kills.py").write_text(CODE)
    return lambda name: [transforms.RandomResizedCrop(16), transforms.Python(f"my_kills:{name}")]


def callers():
    """The processes that call functions for this process's own daemons."""
    of = [children(daemon) for daemon in private_daemons()]
    return [child for each in of for child, command in each if "forebay_step" in command]


def seen(loader, each=lambda: None):
    """The pictures of each turn."""
    made = {}
    for epoch in range(EPOCHS):
        for batch in loader:
            each()
            for record, image, mask in zip(batch.records.tolist(), batch.images, batch.mask.tolist()):
                if mask:
                    assert (record, epoch) not in made
                    made[record, epoch] = np.array(image).tobytes()
    return made


def test_rule_59_children_are_killed_beside_a_running_epoch_and_only_a_record_that_ends_its_process_is_bad(
    jpegs, function, tmp_path
):
    given = {"batch_size": 2, "epochs": EPOCHS, "transform": function("draw"), "seed": 5, "shuffle": True}
    with forebay.Loader(jpegs, **given) as loader:
        expected = seen(loader)
    (tmp_path / "my_kills.py.faults").touch()
    choose, batches, is_over = random.Random(7), threading.Semaphore(0), threading.Event()

    def kill():
        while True:
            batches.acquire()
            if is_over.is_set():
                return
            if found := callers():
                # It may have ended by itself.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(choose.choice(found), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with forebay.Loader(jpegs, **given, on_error="skip", python_workers=3) as loader:
            made = seen(loader, batches.release)
            audits = [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()]
            bad = {each.record for each in loader.quarantine}
    finally:
        is_over.set()
        batches.release()
        killer.join()
    assert (bad, audits) == ({BAD}, [(1, True)] * EPOCHS)
    assert made == {turn: picture for turn, picture in expected.items() if turn[0] != BAD}


def test_rule_59_a_child_that_is_killed_behind_its_answer_has_given_it_and_is_not_asked_once_more(jpegs, function):
    given = {"batch_size": 4, "epochs": EPOCHS, "seed": 5}
    plain = function("draw")[:1]
    with forebay.Loader(jpegs, **given, transform=plain) as loader:
        expected = seen(loader)
    # Each process has one picture at a time.
    with forebay.Loader(jpegs, **given, transform=function("ends_behind_its_answer"), python_workers=16) as loader:
        made = seen(loader)
        assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(0, True)] * EPOCHS
    for turn, picture in expected.items():
        assert np.array_equal(np.frombuffer(made[turn], np.uint8), np.frombuffer(picture, np.uint8) + np.uint8(1)), turn
