"""Steps in Python: functions of users, which children of the daemon call with each picture (semantics rule 59)."""

import hashlib
import os
import py_compile
import signal
import textwrap

import forebay
import numpy as np
import pytest
from forebay import transforms
from processes import children, private_daemons, wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SIZE = 16
BEFORE = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module, whose name no other test has, that a Loader of this process finds: gives its name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(code, name="my_steps"):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code))
        return name

    return write


def images(source, steps, *, batch_size=4, epochs=1, **given):
    """The picture of each record in each epoch."""
    seen = {}
    with forebay.Loader(source, batch_size=batch_size, epochs=epochs, transform=steps, **given) as loader:
        for epoch in range(epochs):
            for batch in loader:
                for image, record, mask in zip(batch.images, batch.records.tolist(), batch.mask.tolist()):
                    if mask:
                        assert (record, epoch) not in seen
                        seen[record, epoch] = np.array(image)
    return seen


def hashes(pictures):
    return {turn: hashlib.sha256(picture.tobytes()).hexdigest() for turn, picture in pictures.items()}


def quarantined(source, steps, **given):
    """The records that a Loader delivers, and those that it leaves out with their reasons."""
    with forebay.Loader(source, batch_size=4, epochs=1, transform=steps, on_error="skip", **given) as loader:
        records = sorted(record for batch in loader for record in batch.records[batch.mask].tolist())
        (audit,) = loader.audit()
        assert (audit.adds_up, audit.delivered) == (True, len(records))
        return records, loader.quarantine


def test_a_function_gets_the_picture_that_a_batch_would_have_and_the_batch_has_what_it_returns(jpegs, module):
    name = module(
        """
        def unchanged(picture, sample):
            return None

        def inverted(picture, sample):
            return 255 - picture

        def in_place(picture, sample):
            picture[...] = 255 - picture
        """
    )
    plain = images(jpegs, BEFORE, seed=3, shuffle=True, epochs=2)
    step = {key: transforms.Python(f"{name}:{key}") for key in ("unchanged", "inverted", "in_place")}
    assert hashes(images(jpegs, [*BEFORE, step["unchanged"]], seed=3, shuffle=True, epochs=2)) == hashes(plain)
    for key in ("inverted", "in_place"):
        made = images(jpegs, [*BEFORE, step[key]], seed=3, shuffle=True, epochs=2)
        assert made.keys() == plain.keys()
        assert all(np.array_equal(made[turn], 255 - plain[turn]) for turn in plain)


def test_what_follows_a_function_works_on_its_result_with_the_choices_of_its_own_place(jpegs, module):
    name = module(
        """
        def framed(picture, sample):
            made = picture[:8, :].copy()
            made[0] = 255
            return made

        def unchanged(picture, sample):
            return picture
        """
    )
    behind = [transforms.RandomCrop(4), transforms.ColorJitter(0.4), transforms.Normalize([0.5] * 3, [0.25] * 3)]
    given = {"seed": 8, "shuffle": True, "dtype": "float32", "layout": "NCHW"}
    whole = images(jpegs, [*BEFORE, transforms.RandomInvert(0.0), *behind], **given)
    split = images(jpegs, [*BEFORE, transforms.Python(f"{name}:unchanged"), *behind], **given)
    assert hashes(split) == hashes(whole)
    declared = transforms.Python(f"{name}:framed", output=(8, SIZE))
    cut = images(jpegs, [*BEFORE, declared, transforms.CenterCrop((8, SIZE))], seed=8)
    assert {picture.shape for picture in cut.values()} == {(8, SIZE, 3)}
    assert all((picture[0] == 255).all() for picture in cut.values())


def test_several_functions_of_a_list_are_called_in_its_order(jpegs, module):
    name = module(
        """
        def add(picture, sample):
            picture[..., 0] = 7

        def double(picture, sample):
            return picture * 2
        """
    )
    steps = [*BEFORE, transforms.Python(f"{name}:add"), transforms.CenterCrop(8), transforms.Python(f"{name}:double")]
    made = images(jpegs, steps)
    assert len(made) == 12
    assert all((picture[..., 0] == 14).all() and picture.shape == (8, 8, 3) for picture in made.values())


DRAWS = """
import random
import numpy as np

class Drawn:
    def __init__(self):
        self.generator = random.Random(0)

    def set_random_seed(self, seed):
        self.generator.seed(seed)

    def __call__(self, picture, sample):
        return self.draw(picture)

    def draw(self, picture):
        picture[0, 0] = [self.generator.randrange(256) for _ in range(3)]

own = Drawn()
inner = Drawn()

def draw(picture, sample):
    picture[1, 0] = [random.randrange(256) for _ in range(3)]
    picture[2, 0] = np.random.randint(0, 256, 3)
    picture[3, 0] = sample.rng().integers(0, 256, 3)
    picture[4, 0] = [sample.record, sample.epoch, sample.repeat]
    picture[5, 0] = list(sample.seed.to_bytes(16, "little")[:3])
    inner.draw(picture)
"""


@pytest.mark.parametrize("function", ["draw", "own"])
def test_rule_59_random_choices_depend_on_the_turn_alone(jpegs, module, function):
    name = module(DRAWS)
    seeded = [f"{name}:inner"] if function == "draw" else None
    steps = [*BEFORE, transforms.Python(f"{name}:{function}", seeded=seeded)]
    made = [
        images(jpegs, steps, seed=5, shuffle=True, epochs=2, python_workers=workers, batch_size=size)
        for workers, size in ((1, 3), (4, 5))
    ]
    assert hashes(made[0]) == hashes(made[1])
    if function == "draw":
        for (record, epoch), picture in made[0].items():
            assert picture[4, 0].tolist() == [record, epoch, 0]
        for row in (0, 1, 2, 3, 5):
            drawn = {tuple(picture[row, 0].tolist()) for picture in made[0].values()}
            assert len(drawn) > len(made[0]) / 2, "each turn has draws of its own"


def callers():
    """The processes that call functions for this process's own daemons."""
    of = [children(daemon) for daemon in private_daemons()]
    return [child for each in of for child, command in each if "forebay_step" in command]


def test_rule_59_children_that_are_killed_change_no_pixel_and_no_record_is_bad(jpegs, module):
    steps = [*BEFORE, transforms.Python(f"{module(DRAWS)}:draw", seeded=["my_steps:inner"])]
    expected = hashes(images(jpegs, steps, seed=5, epochs=4))
    seen = {}
    with forebay.Loader(jpegs, batch_size=2, epochs=4, transform=steps, seed=5, python_workers=2) as loader:
        for epoch in range(4):
            for batch in loader:
                for child in callers()[:1]:
                    os.kill(child, signal.SIGKILL)
                for image, record in zip(batch.images, batch.records.tolist()):
                    seen[record, epoch] = np.array(image)
        assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(0, True)] * 4
    assert hashes(seen) == expected


FAILS = """
import os, signal, sys, threading

def raises(picture, sample):
    if sample.record == 5:
        inner = {}
        inner["no such key"]
    return picture

def skips(picture, sample):
    import forebay

    if sample.record == 5:
        raise forebay.Skip("its horizon is\\n  oblique")

def wrong_size(picture, sample):
    return picture[:-1] if sample.record == 5 else picture

def wrong_type(picture, sample):
    return picture.astype(float) if sample.record == 5 else picture

def nothing(picture, sample):
    return "a text" if sample.record == 5 else picture

def exits(picture, sample):
    if sample.record == 5:
        sys.exit(4)

def ends(picture, sample):
    if sample.record == 5:
        os._exit(3)

def faults(picture, sample):
    if sample.record == 5:
        os.kill(os.getpid(), signal.SIGSEGV)

def grows(picture, sample):
    if sample.record == 5:
        kept = []
        while True:
            kept.append(bytearray(1 << 24))

def hangs(picture, sample):
    if sample.record == 5:
        threading.Event().wait()

def forks(picture, sample):
    print("a line of the function", flush=True)
    if sample.record == 5:
        os.fork()
"""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("raises", ["my_steps:raises raised KeyError: 'no such key'", 'inner["no such key"]']),
        ("exits", ["my_steps:exits raised SystemExit: 4"]),
        ("skips", ["my_steps:skips has skipped it: its horizon is oblique"]),
        ("wrong_size", ["my_steps:wrong_size", "uint8 [15, 16, 3]", "uint8 [16, 16, 3]"]),
        ("wrong_type", ["my_steps:wrong_type", "float64 [16, 16, 3]"]),
        ("nothing", ["my_steps:nothing", "returned a str"]),
        ("ends", ["my_steps:ends ended each of two processes", "exit code 3"]),
        ("faults", ["my_steps:faults ended each of two processes", "SIGSEGV"]),
        ("grows", ["my_steps:grows ended each of two processes", "python_memory"]),
    ],
)
def test_rule_59_a_call_that_fails_makes_its_record_bad_alone_and_says_why(jpegs, module, function, words):
    steps = [*BEFORE, transforms.Python(f"{module(FAILS)}:{function}")]
    config = {"stream": {"python_memory": "700mb"}}
    records, bad = quarantined(jpegs, steps, config=config)
    assert records == [record for record in range(12) if record != 5]
    assert [each.record for each in bad] == [5]
    assert all(word in bad[0].reason for word in words), bad[0].reason
    with pytest.raises(forebay.RecordError) as error:
        images(jpegs, steps, config=config)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_rule_59_a_call_that_hangs_makes_its_record_bad_alone_and_a_first_call_may_take_as_long_as_others_did(
    jpegs, module
):
    steps = [*BEFORE, transforms.Python(f"{module(FAILS)}:hangs")]
    # One thread decodes in order, so the first call of all is that of another record.
    records, bad = quarantined(jpegs, steps, num_threads=1, config={"stream": {"python_timeout": "1s"}})
    assert records == [record for record in range(12) if record != 5]
    assert [each.record for each in bad] == [5]
    assert "ended each of two processes" in bad[0].reason
    assert "silence for 1" in bad[0].reason


def test_rule_59_a_function_may_print_and_fork(jpegs, module):
    steps = [*BEFORE, transforms.Python(f"{module(FAILS)}:forks")]
    assert hashes(images(jpegs, steps, epochs=2)) == hashes(images(jpegs, BEFORE, epochs=2))


def test_rule_59_a_function_that_raises_at_its_first_32_calls_fails_the_stream_and_not_the_records(pictures, module):
    name = module("def typo(picture, sample):\n    return pictur\n")
    steps = [transforms.ExpectSize(8), transforms.Python(f"{name}:typo")]
    with pytest.raises(forebay.Error, match="first 32 calls") as error:
        quarantined(pictures(100), steps)
    assert "NameError: name 'pictur' is not defined" in str(error.value)


DEEP = """
import sys

def deep(picture, sample):
    if sample.record == 5:
        down(30)

def down(levels):
    if levels:
        down_in_a_function_that_has_a_name_which_makes_each_line_of_the_traceback_long(levels)
    raise ValueError("the bottom, in\\nseveral lines")

def down_in_a_function_that_has_a_name_which_makes_each_line_of_the_traceback_long(levels):
    down(levels - 1)
"""


def test_rule_59_the_quarantine_has_the_step_the_exception_and_the_last_20_lines_of_the_traceback(jpegs, module):
    records, bad = quarantined(jpegs, [*BEFORE, transforms.Python(f"{module(DEEP)}:deep")])
    assert (len(records), [each.record for each in bad]) == (11, [5])
    first, *lines = bad[0].reason.splitlines()
    assert first == "The function my_steps:deep raised ValueError: the bottom, in several lines"
    assert lines[-2:] == ["ValueError: the bottom, in", "several lines"], bad[0].reason
    assert len(lines) == 20, bad[0].reason


def test_rule_59_records_that_a_function_skips_are_no_failures_and_what_it_needs_is_waited_for(jpegs, module, tmp_path):
    name = module(
        """
        import os, sys
        import forebay

        def choose(picture, sample):
            if sample.record % 2:
                raise forebay.Skip("odd")
            if sample.record == 4 and not os.path.exists(sys.path[0] + "/server"):
                open(sys.path[0] + "/server", "x").close()
                raise forebay.Outage("the server does not answer")
        """
    )
    steps = [*BEFORE, transforms.Python(f"{name}:choose")]
    records, bad = quarantined(jpegs, steps, max_failures=1)
    assert (records, [each.record for each in bad]) == ([0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11])
    assert (tmp_path / "server").exists()


def test_rule_59_a_function_that_skips_all_of_many_records_fails_because_none_is_left(pictures, module):
    name = module("import forebay\ndef none(picture, sample):\n    raise forebay.Skip('no')\n")
    steps = [transforms.ExpectSize(8), transforms.Python(f"{name}:none")]
    with pytest.raises(forebay.RecordError, match="Every record of epoch 0 is bad, 40 in all"):
        quarantined(pictures(40), steps, max_failures=1)


@pytest.mark.parametrize(
    ("code", "function", "words"),
    [
        ("import nowhere_to_be_found\n", "augment", ["No module named 'nowhere_to_be_found'", "my_steps.py"]),
        ("x = 1\n", "augment", ["no attribute 'augment'"]),
        ("augment = 1\n", "augment", ["a int, which cannot be called"]),
        ("def augment(:\n", "augment", ["SyntaxError"]),
        ("import os\nos._exit(7)\n", "augment", ["it has ended", "7"]),
    ],
)
def test_rule_59_a_function_that_cannot_be_imported_is_refused_with_its_traceback(jpegs, module, code, function, words):
    steps = [*BEFORE, transforms.Python(f"{module(code)}:{function}")]
    with pytest.raises(forebay.SettingsError) as error:
        forebay.Loader(jpegs, batch_size=4, transform=steps)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize("package", ["", "steps_of_a_package."])
def test_rule_59_the_source_of_a_function_is_run_and_not_the_bytecode_of_an_earlier_edit(pictures, tmp_path, package):
    folder = tmp_path / package.rstrip(".")
    folder.mkdir(exist_ok=True)
    file = folder / "edited_steps.py"
    code = "def mark(picture, sample):\n    picture[...] = {}\n"
    file.write_text(code.format(1))
    py_compile.compile(str(file))
    times = file.stat()
    # The same size, and the same second.
    file.write_text(code.format(2))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    steps = [transforms.ExpectSize(8), transforms.Python(f"{package}edited_steps:mark")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        marks = {tuple(picture[0, 0]) for picture in images(pictures(4), steps).values()}
    assert marks == {(2, 2, 2)}


def test_rule_59_a_file_that_changes_is_not_mixed_with_the_one_that_the_stream_began_with(pictures, module):
    code = "def mark(picture, sample):\n    picture[...] = {}\n"
    steps = [transforms.ExpectSize(8), transforms.Python(f"{module(code.format(1))}:mark")]
    source = pictures(200)
    with forebay.Loader(source, batch_size=2, transform=steps, python_workers=1, epochs=1) as loader:
        assert next(iter(loader)).images[0, 0, 0].tolist() == [1, 1, 1]
        module(code.format(2))
        wait_until(callers)
        for child in callers():
            os.kill(child, signal.SIGKILL)
        marks = []
        with pytest.raises(forebay.Error, match="has changed since the stream was opened"):
            marks.extend({int(mark) for mark in np.unique(batch.images)} for batch in loader)
        assert all(mark == {1} for mark in marks)
    assert {tuple(picture[0, 0]) for picture in images(source, steps).values()} == {(2, 2, 2)}
