"""The stub of the native module names what the module has."""

import ast
from pathlib import Path

import forebay
from forebay import _native

STUB = Path(forebay.__file__).parent / "_native.pyi"


def members(body):
    """Names that a class of the stub defines."""
    targets = (node.target.id for node in body if isinstance(node, ast.AnnAssign))
    return {node.name for node in body if isinstance(node, ast.FunctionDef)} | set(targets)


def test_the_stub_has_every_class_and_member_of_the_native_module():
    classes = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef)]
    built = {name: value for name, value in vars(_native).items() if isinstance(value, type)}
    assert {node.name for node in classes} == set(built)
    for node in classes:
        own = {name for name in vars(built[node.name]) if not name.startswith("__") or name == "__array_interface__"}
        # Every class has a __new__, which is of use only where the stub has it.
        assert members(node.body) - {"__new__"} == own, node.name
