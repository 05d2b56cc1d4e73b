"""By which name another process imports a function of this one."""

from __future__ import annotations

import os
import sys
from functools import reduce
from typing import Any, Callable

from forebay.errors import SettingsError

__all__ = ["name_of"]

_OR_HERE = ", or give the Loader python_workers=0: this process calls it then"


def name_of(function: Callable[..., Any]) -> str:
    """A function as "module:name".

    Raises:
        SettingsError: No other process can import it. The error says what to do.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        raise SettingsError(
            f"transform: {function!r} has no name of its own, so no other process can import it. Give the name of a "
            'variable that has it, such as "my_steps:augment"' + _OR_HERE
        )
    try:
        known = reduce(getattr, name.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        known = None
    if known is not function:
        raise SettingsError(
            f"transform: no other process can import {name} of {module}: it is a lambda, a function inside another "
            "one, a method of an object, or its name has something else by now. Define a function of a module"
            + _OR_HERE
        )
    return f"{_of_script(name) if module == '__main__' else module}:{name}"


def _of_script(name: str) -> str:
    """The module that another process imports for the script that runs here."""
    main = sys.modules["__main__"]
    if main.__spec__ is not None:
        # Run by `python -m`.
        return main.__spec__.name
    file = getattr(main, "__file__", None)
    if file is None or file.startswith("<"):
        raise SettingsError(
            f"transform: no other process can import {name}, which was defined in a notebook or an interactive Python. "
            "Define it in a module, such as a file my_steps.py in the working folder" + _OR_HERE
        )
    folder, base = os.path.split(os.path.abspath(file))
    module, suffix = os.path.splitext(base)
    if suffix != ".py" or not module.isidentifier() or folder not in map(os.path.abspath, sys.path):
        raise SettingsError(
            f"transform: no other process can import {name} of the script {file}: its name is no name of a module, "
            "or its folder is not in sys.path. Define the function in a module, such as a file my_steps.py beside the "
            "script" + _OR_HERE
        )
    return module
