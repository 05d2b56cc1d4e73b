"""Functions of batches that fail, wait or are not waited for (semantics rule 59)."""

import forebay
import numpy as np
import pytest
from batch_functions import BEFORE, of_batches

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

FAILS = """
import json
import os
import re
import signal
import threading

import numpy as np

def once(name):
    if not os.path.exists(__file__ + ".once"):
        open(__file__ + ".once", "x").close()
        return True
    return not os.path.exists(__file__ + ".only")

def raises(batch):
    batch.images[...] = 0
    if 5 in batch.records and once("raises"):
        raise KeyError("no such key")

def wrong_shape(batch):
    if 5 in batch.records and once("wrong_shape"):
        return {"images": batch.images[:, :-1]}

def wrong_type(batch):
    if 5 in batch.records and once("wrong_type"):
        return {"labels": batch.labels * 0.5}

def unknown(batch):
    if 5 in batch.records and once("unknown"):
        return {"mask": batch.mask}

def nothing(batch):
    if 5 in batch.records and once("nothing"):
        return batch.images

def ends(batch):
    if 5 in batch.records and once("ends"):
        os._exit(3)

def faults(batch):
    if 5 in batch.records and once("faults"):
        os.kill(os.getpid(), signal.SIGSEGV)

def hangs(batch):
    if 5 in batch.records and once("hangs"):
        threading.Event().wait()

def grows(batch):
    if 5 in batch.records and once("grows"):
        kept = []
        while True:
            kept.append(bytearray(1 << 24))
"""
CAUSES = [
    ("raises", ["my_batches:raises raised KeyError: 'no such key'", 'raise KeyError("no such key")']),
    ("wrong_shape", ["my_batches:wrong_shape", "'images' is uint8 [4, 7, 8, 3]", "uint8 [4, 8, 8, 3]"]),
    ("wrong_type", ["'labels' is float64 [4], but must be int64 [4]"]),
    ("unknown", ["returned something for 'mask', but may do so for: images, labels"]),
    ("nothing", ["it has returned a ndarray"]),
    ("ends", ["my_batches:ends ended its process by exit code 3"]),
    ("faults", ["my_batches:faults ended its process by", "SIGSEGV"]),
    ("hangs", ["my_batches:hangs ended its process by silence for 1"]),
    ("grows", ["my_batches:grows ended its process by", "python_memory"]),
]


@pytest.mark.parametrize(("function", "words"), CAUSES)
def test_rule_59_a_function_of_batches_that_fails_twice_fails_the_stream_and_no_record_is_bad(
    jpegs, batch_module, function, words
):
    steps = [*BEFORE, of_batches(f"{batch_module(FAILS)}:{function}")]
    config = {"stream": {"python_memory": "700mb"} if function != "hangs" else {"python_timeout": "1s"}}
    given = {"batch_size": 4, "epochs": 1, "transform": steps, "python_workers": 1, "on_error": "skip"}
    seen = []
    with forebay.Loader(jpegs, config=config, **given) as loader:
        with pytest.raises(forebay.Error) as error:
            seen.extend(record for batch in loader for record in batch.records.tolist())
        assert loader.quarantine == []
    assert "The function of batches has failed twice with batch 1." in str(error.value), str(error.value)
    assert all(word in str(error.value) for word in words), str(error.value)
    assert set(seen) <= {0, 1, 2, 3}


@pytest.mark.parametrize("function", [function for function, _ in CAUSES])
def test_rule_59_a_function_of_batches_that_fails_once_is_called_with_the_batch_as_it_was(
    jpegs, batch_module, tmp_path, function
):
    steps = [*BEFORE, of_batches(f"{batch_module(FAILS)}:{function}")]
    (tmp_path / "steps" / "my_batches.py.only").touch()
    config = {"stream": {"python_memory": "700mb"} if function != "hangs" else {"python_timeout": "1s"}}
    given = {"batch_size": 4, "epochs": 1, "seed": 3, "python_workers": 1}
    with forebay.Loader(jpegs, transform=BEFORE, **given) as loader:
        plain = [np.array(batch.images) for batch in loader]
    with forebay.Loader(jpegs, config=config, transform=steps, **given) as loader:
        made = [np.array(batch.images) for batch in loader]
        assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(0, True)]
    assert (tmp_path / "steps" / "my_batches.py.once").exists()
    assert np.array_equal(made, np.zeros_like(plain) if function == "raises" else plain)


def test_rule_59_what_a_function_of_batches_waits_for_is_waited_for(jpegs, batch_module, tmp_path):
    name = batch_module(
        """
        import os
        import forebay

        def waits(batch):
            if not os.path.exists(__file__ + ".up"):
                open(__file__ + ".up", "x").close()
                raise forebay.Outage("the server does not answer")
        """
    )
    steps = [*BEFORE, of_batches(f"{name}:waits")]
    with forebay.Loader(jpegs, batch_size=4, epochs=1, transform=steps, python_workers=1) as loader:
        assert sum(len(batch.records) for batch in loader) == 12
    assert (tmp_path / "steps" / "my_batches.py.up").exists()


def test_rule_59_a_stream_that_stops_does_not_wait_for_a_function_of_batches(jpegs, batch_module):
    name = batch_module(
        """
        import threading

        def hangs(batch):
            if batch.epoch == 0 and 3 in batch.records:
                threading.Event().wait()
        """
    )
    steps = [*BEFORE, of_batches(f"{name}:hangs")]
    with forebay.Loader(jpegs, batch_size=2, epochs=1, transform=steps, python_workers=1) as loader:
        assert loader.next().records.tolist() == [0, 1]
        state = loader.state_dict()
    with forebay.Loader(jpegs, batch_size=2, epochs=1, transform=BEFORE) as loader:
        loader.load_state_dict(state)
        assert sorted(record for batch in loader for record in batch.records.tolist()) == list(range(2, 12))


def test_rule_59_a_function_of_batches_in_the_loaders_process_fails_the_stream_too(jpegs):
    called = []

    def raises(batch):
        called.append(batch.records.tolist())
        raise KeyError("no such key")

    given = {"batch_size": 4, "epochs": 1, "python_workers": 0}
    with forebay.Loader(jpegs, transform=[*BEFORE, of_batches(raises)], **given) as loader:
        with pytest.raises(forebay.Error, match=r"failed twice with batch \d\.") as error:
            list(loader)
        assert "raised KeyError: 'no such key'" in str(error.value)
    # Several batches wait for the function, and on a busy machine it may not be the first one that fails twice.
    failed = 4 * int(str(error.value).partition("with batch ")[2][0])
    assert called.count(list(range(failed, failed + 4))) == 2


def test_rule_59_what_ends_a_program_is_raised_by_next_and_the_batch_is_given_to_the_function_again(jpegs):
    called = []

    def interrupted(batch):
        called.append(batch.records.tolist())
        batch.images[...] = 255 - batch.images
        if len(called) == 1:
            raise KeyboardInterrupt

    given = {"batch_size": 4, "epochs": 1, "seed": 3, "python_workers": 0}
    with forebay.Loader(jpegs, transform=BEFORE, **given) as loader:
        plain = [np.array(batch.images) for batch in loader]
    with forebay.Loader(jpegs, transform=[*BEFORE, of_batches(interrupted)], **given) as loader:
        with pytest.raises(KeyboardInterrupt):
            loader.next()
        made = [np.array(batch.images) for batch in loader]
    assert called == [[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert np.array_equal(made, 255 - np.array(plain))
