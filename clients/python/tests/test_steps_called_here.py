"""Steps in Python that a Loader calls in its own process, with `python_workers=0` (semantics rule 59)."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading

import forebay
import numpy as np
import pytest
from forebay import transforms
from processes import children, private_daemons

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SIZE = 16
BEFORE = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]


def images(source, function, *, epochs=1, seeded=None, after=lambda: None, **given):
    """The picture of each record in each epoch."""
    seen = {}
    steps = [*BEFORE, *([] if function is None else [transforms.Python(function, seeded=seeded)])]
    with forebay.Loader(source, batch_size=4, epochs=epochs, transform=steps, seed=5, **given) as loader:
        for epoch in range(epochs):
            for batch in loader:
                for image, record in zip(batch.images, batch.records.tolist()):
                    assert (record, epoch) not in seen
                    seen[record, epoch] = np.array(image)
                after()
        assert all(audit.adds_up for audit in loader.audit())
    return seen


def equal(first, second):
    return first.keys() == second.keys() and all(np.array_equal(first[turn], second[turn]) for turn in first)


class Inverted:
    """An object that can be called."""

    def __call__(self, picture, _sample):
        return 255 - picture

    def method(self, picture, _sample):
        picture[...] = 255 - picture


def test_rule_59_any_object_that_can_be_called_is_called_in_the_thread_that_waits_for_a_batch(jpegs):
    plain = images(jpegs, None, epochs=2)
    called = []

    def closure(picture, sample):
        called.append((os.getpid(), threading.get_ident(), (sample.record, sample.epoch)))
        return 255 - picture

    for function in (closure, lambda picture, _sample: 255 - picture, Inverted(), Inverted().method):
        made = images(jpegs, function, epochs=2, python_workers=0)
        assert made.keys() == plain.keys()
        assert all(np.array_equal(made[turn], 255 - plain[turn]) for turn in plain)
    assert {each[:2] for each in called} == {(os.getpid(), threading.get_ident())}
    assert sorted(each[2] for each in called) == sorted(plain)


DRAWS = """
import random
import numpy as np

class Drawn:
    def __init__(self):
        self.generator = random.Random(0)

    def set_random_seed(self, seed):
        self.generator.seed(seed)

inner = Drawn()

def draw(picture, sample):
    picture[0, 0] = [inner.generator.randrange(256) for _ in range(3)]
    picture[1, 0] = [random.randrange(256) for _ in range(3)]
    picture[2, 0] = np.random.randint(0, 256, 3)
    picture[3, 0] = sample.rng().integers(0, 256, 3)
"""


def test_rule_59_random_choices_are_those_of_child_processes_and_the_caller_s_generators_stay_as_they_are(
    jpegs, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "drawing_steps.py").write_text(DRAWS)
    seeded = ["drawing_steps:inner"]
    expected = images(jpegs, "drawing_steps:draw", epochs=2, seeded=seeded)
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    assert equal(images(jpegs, "drawing_steps:draw", epochs=2, seeded=seeded, python_workers=0), expected)
    import drawing_steps

    assert equal(images(jpegs, drawing_steps.draw, epochs=2, seeded=seeded, python_workers=0), expected)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_rule_59_no_process_is_started_and_each_loader_calls_its_own_functions(jpegs):
    marks = {7: [], 9: []}

    def marked(mark):
        def function(picture, _sample):
            picture[...] = mark
            of = [children(daemon) for daemon in private_daemons()]
            assert not [command for each in of for _, command in each if "forebay_step" in command]

        return [*BEFORE, transforms.Python(function)]

    loaders = {
        mark: forebay.Loader(jpegs, batch_size=4, epochs=1, transform=marked(mark), python_workers=0) for mark in marks
    }
    for _ in range(3):
        for mark, loader in loaders.items():
            marks[mark].append(np.unique(next(iter(loader)).images).tolist())
    for loader in loaders.values():
        loader.close()
    assert marks == {7: [[7]] * 3, 9: [[9]] * 3}


def test_rule_59_an_exception_makes_its_record_bad_and_says_where_it_was_raised(jpegs):
    def fails(picture, sample):
        if sample.record == 5:
            raise ValueError("in the Loader's process")
        if sample.record == 6:
            raise MemoryError
        if sample.record == 7:
            return picture[:-1]
        return None

    steps = [*BEFORE, transforms.Python(fails)]
    with forebay.Loader(jpegs, batch_size=4, epochs=1, transform=steps, on_error="skip", python_workers=0) as loader:
        records = sorted(record for batch in loader for record in batch.records[batch.mask].tolist())
        bad = {each.record: each.reason for each in loader.quarantine}
    assert records == [0, 1, 2, 3, 4, 8, 9, 10, 11]
    assert sorted(bad) == [5, 6, 7]
    assert "raised ValueError: in the Loader's process" in bad[5]
    assert "test_steps_called_here.py" in bad[5]
    assert "raised MemoryError" in bad[6]
    assert "uint8 [15, 16, 3]" in bad[7]


def test_rule_59_what_ends_a_program_is_raised_by_next_and_the_call_is_repeated(jpegs):
    interrupted = []

    def function(picture, sample):
        if sample.record in (3, 8) and sample.record not in interrupted:
            interrupted.append(sample.record)
            picture[...] = 0
            raise KeyboardInterrupt if sample.record == 3 else SystemExit(2)

    plain = images(jpegs, None)
    seen = {}
    steps = [*BEFORE, transforms.Python(function)]
    with forebay.Loader(jpegs, batch_size=4, epochs=1, transform=steps, seed=5, python_workers=0) as loader:
        raised = []
        while len(seen) < 12:
            try:
                batch = loader.next()
            except (KeyboardInterrupt, SystemExit) as error:
                raised.append(type(error))
                continue
            seen.update({(record, 0): np.array(image) for image, record in zip(batch.images, batch.records.tolist())})
        assert loader.quarantine == []
    assert sorted(raised, key=str) == sorted([KeyboardInterrupt, SystemExit], key=str)
    assert equal(seen, plain)


def test_rule_59_a_daemon_that_was_killed_asks_again_and_no_picture_changes(jpegs):
    def function(picture, sample):
        picture[0, 0] = sample.rng().integers(0, 256, 3)

    expected = images(jpegs, function, epochs=3, python_workers=0)
    kills = iter([True, True])

    def kill():
        if next(kills, False):
            for daemon in private_daemons():
                os.kill(daemon, signal.SIGKILL)

    assert equal(images(jpegs, function, epochs=3, python_workers=0, after=kill), expected)


def test_rule_59_a_breakpoint_in_a_function_is_one_of_the_script(jpegs, tmp_path):
    script = tmp_path / "debugged-script.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            import forebay
            from forebay import transforms

            def function(picture, sample):
                if sample.record == 5:
                    breakpoint()
                return picture

            steps = [transforms.RandomResizedCrop(16), transforms.Python(function)]
            with forebay.Loader(sys.argv[1], batch_size=12, epochs=1, transform=steps, python_workers=0) as loader:
                print("records", [sorted(batch.records.tolist()) for batch in loader])
            """
        )
    )
    told = subprocess.run(
        [sys.executable, str(script), str(jpegs)],
        input="p 'record', sample.record, picture.shape\nc\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "('record', 5, (16, 16, 3))" in told.stdout, told
    assert f"records {[list(range(12))]}" in told.stdout, told


def test_rule_59_only_a_loader_of_its_own_daemon_calls_functions_itself(binary, jpegs, tmp_path):
    sockets, config = tmp_path / "sockets", tmp_path / "forebay.toml"
    sockets.mkdir(mode=0o700)
    config.write_text(
        f'[control]\ndir = "{sockets}"\n[coordinator]\npath = "{tmp_path / "state"}"\n'
        f'[streams.train]\nsource = "{jpegs}"\nbatch_size = 4\n'
        'transform = [{ center_crop = { size = 8 } }, { python = { function = "a:b" } }]\npython_workers = 0\n'
    )
    # Its only stream cannot be opened, so it ends.
    served = subprocess.run([binary, "serve", "--config", config], capture_output=True, text=True, check=False)
    assert served.returncode == 1
    assert "python_workers is 0, which only a Loader of its own daemon may have" in served.stderr
