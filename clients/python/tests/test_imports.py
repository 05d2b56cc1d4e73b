"""How the package's modules depend on each other."""

import ast
import graphlib
from pathlib import Path

import forebay

PACKAGE = Path(forebay.__file__).parent


def modules():
    """The package's Python files, by the name under which they are imported."""
    files = ((path, path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py"))
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in files}


def imported(path, known):
    """Modules of the package that a file imports anywhere: at its top, in functions, or for type checkers only."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            # `from forebay import errors` imports a module, and `from forebay.errors import Error` a name of one.
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            # The extension module is not a Python file, and imports none.
            yield from (name if name in known else node.module for name in names if name != "forebay._native")


def test_no_module_imports_itself_by_way_of_others():
    known = modules()
    graph = {name: set(imported(path, known)) for name, path in known.items()}
    assert len(graph) > 25
    assert "forebay.torch.tensors" in graph["forebay.loader"], "imports inside functions count"
    assert "forebay.rings" in graph["forebay.batch"], "imports for type checkers count"
    list(graphlib.TopologicalSorter(graph).static_order())


def test_frameworks_are_named_in_their_own_files_alone():
    for name, path in modules().items():
        words = {
            node.value.partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value
        }
        # `forebay parity` compares with torch, whatever a trainer uses.
        is_home = name in ("forebay.tf", "forebay.jax", "forebay.paddle") or name.startswith(
            ("forebay.torch.", "forebay.frameworks.", "forebay.parity.")
        )
        assert is_home or not words & {"torch", "cupy", "jax", "tensorflow", "paddle"}, (
            f"{name} looks for a framework: ask forebay.frameworks"
        )
