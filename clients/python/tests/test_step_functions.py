"""Steps in Python that are given as functions, and not by name (semantics rule 59)."""

import functools
import subprocess
import sys
import textwrap

import forebay
import numpy as np
import pytest
from forebay import transforms


def named(function):
    return transforms.Python(function).to_settings()["python"]["function"]


def test_a_function_of_a_module_is_named_by_its_module_and_its_name_there():
    assert named(np.fliplr) == "numpy:fliplr"
    assert named(subprocess.Popen.poll) == "subprocess:Popen.poll"
    assert named("my_steps:augment") == "my_steps:augment"


def closure():
    inside = 0

    def function(picture, _sample):
        return picture + inside

    return function


class Augment:
    """An object that can be called."""

    def __call__(self, picture, _sample):
        return picture

    def method(self, picture, _sample):
        return picture


replaced = closure()
replaced.__qualname__ = "closure"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda picture, _sample: picture, "is a lambda"),
        (closure(), "a function inside another one"),
        (replaced, "its name has something else by now"),
        (Augment().method, "a method of an object"),
        (Augment(), 'such as "my_steps:augment"'),
        (functools.partial(np.fliplr), 'such as "my_steps:augment"'),
    ],
)
def test_rule_59_a_function_that_no_other_process_can_import_is_refused_with_what_to_do(function, words):
    with pytest.raises(forebay.SettingsError) as error:
        transforms.Python(function).to_settings()
    assert words in str(error.value)
    with pytest.raises(forebay.SettingsError) as error:
        forebay.Loader("/nowhere", batch_size=4, transform=[transforms.Python(function)])
    assert words in str(error.value)


SCRIPT = """
import sys
import forebay
from forebay import transforms

def inverted(picture, sample):
    assert __name__ != "__main__"
    return 255 - picture

class Steps:
    def dark(picture, sample):
        picture[...] = 0

def batches(source, function):
    steps = [transforms.RandomResizedCrop(16), transforms.Python(function)]
    with forebay.Loader(source, batch_size=12, epochs=1, transform=steps, seed=3) as loader:
        return [int(batch.images.sum()) for batch in loader]

{guard}
    print(batches(sys.argv[-1], inverted), batches(sys.argv[-1], Steps.dark))
"""


def run(*words, cwd, stdin=None):
    return subprocess.run([sys.executable, *words], cwd=cwd, input=stdin, capture_output=True, text=True, check=False)


@pytest.mark.daemon
@pytest.mark.usefixtures("binary")
def test_rule_59_a_function_of_the_script_is_imported_from_the_script(jpegs, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(guard='if __name__ == "__main__":'))
    crop = [transforms.RandomResizedCrop(16)]
    with forebay.Loader(jpegs, batch_size=12, epochs=1, transform=crop, seed=3) as loader:
        (expected,) = [int((255 - batch.images).sum(dtype=np.int64)) for batch in loader]
    for command in (["train.py"], [str(script)], ["-m", "train"]):
        told = run(*command, str(jpegs), cwd=tmp_path)
        assert told.stdout.strip() == f"[{expected}] [0]", told.stderr


@pytest.mark.daemon
@pytest.mark.usefixtures("binary")
def test_rule_59_a_script_that_makes_its_loader_at_its_import_is_told_to_ask_for_its_name(jpegs, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT.format(guard="if True:"))
    told = run("train.py", str(jpegs), cwd=tmp_path)
    assert told.returncode == 1
    assert 'below `if __name__ == "__main__":`' in told.stderr, told.stderr


def test_rule_59_a_function_of_a_notebook_or_of_an_odd_script_is_refused_with_what_to_do(tmp_path):
    code = textwrap.dedent(
        """
        from forebay import transforms

        def augment(picture, sample):
            return picture

        transforms.Python(augment).to_settings()
        """
    )
    told = run("-", cwd=tmp_path, stdin=code)
    assert "SettingsError" in told.stderr, told.stderr
    assert "a notebook or an interactive Python" in told.stderr
    assert "my_steps.py" in told.stderr
    (tmp_path / "train-it.py").write_text(code)
    told = run("train-it.py", cwd=tmp_path)
    assert "its name is no name of a module" in told.stderr, told.stderr
