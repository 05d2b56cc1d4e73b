"""What type checkers know of batches. The check itself is skipped if mypy is not installed."""

import ast
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import forebay
import pytest

PACKAGE = Path(forebay.__file__).parent

TYPED = """
import forebay
import numpy as np
from forebay.torch import DataLoader, TorchBatch

loader = forebay.Loader("/data", batch_size=4, size=8)
for batch in loader:
    reveal_type(batch.images)
    batch.images.astype("float32")
    batch.padded.images.astype("float32")
    batch["boxes"].values
    batch.caption.text()
for tensors in loader.torch():
    reveal_type(tensors)
    tensors.images.float()
    images, labels = tensors
first = loader.torch().next()
reveal_type(first)
for by_name in loader.torch(as_dict=True):
    reveal_type(by_name)
for some in loader.torch(elements=("images", "boxes")):
    reveal_type(some)
for named in loader.torch(elements=("images",), as_dict=True):
    reveal_type(named)
"""
REVEALED = [
    "numpy.ndarray[",
    "forebay.torch.batch.TorchBatch",
    "forebay.torch.batch.TorchBatch | None",
    "dict[",
    "tuple[",
    "dict[",
]


def test_the_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").exists()


def test_each_kind_of_batch_of_tensors_has_a_signature_of_its_own():
    source = ast.parse(textwrap.dedent(inspect.getsource(forebay.Loader)))
    methods = [node for node in ast.walk(source) if isinstance(node, ast.FunctionDef) and node.name == "torch"]
    overloads = [node for node in methods if [ast.unparse(name) for name in node.decorator_list] == ["overload"]]
    (implementation,) = [node for node in methods if node not in overloads]
    assert [ast.unparse(node.returns) for node in overloads] == [
        "TorchLoader[TorchBatch]",
        "TorchLoader[tuple[Any, ...]]",
        "TorchLoader[dict[str, Any]]",
        "TorchLoader[tuple[dict[str, Any], TorchBatch]]",
    ]
    # An argument that one of them lacks could not be given.
    names = [argument.arg for argument in implementation.args.kwonlyargs]
    assert all([argument.arg for argument in node.args.kwonlyargs] == names for node in overloads)


def test_images_are_an_array_to_type_checkers():
    assert forebay.Batch.images.fget.__annotations__["return"] == "np.ndarray"


def test_mypy_knows_the_types_of_batches(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed; `make test-torch` installs it")
    script = tmp_path / "typed.py"
    script.write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent", "--no-color-output"]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, cwd=tmp_path, check=False)
    found = [line.split('Revealed type is "')[1] for line in done.stdout.splitlines() if "Revealed type is" in line]
    assert [text.startswith(kind) for text, kind in zip(found, REVEALED)] == [True] * len(REVEALED), done.stdout
    assert len(found) == len(REVEALED)
    assert "error:" not in done.stdout, done.stdout
