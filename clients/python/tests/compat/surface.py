"""The names that users depend on, as the installed build and the documents beside it have them now.

Each function gives a dictionary that fits into JSON. `lost.py` compares two of them.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch

from forebay import _command

ROOT = Path(__file__).resolve().parents[4]
# Classes that users construct. The others come from a Loader, and their constructors are its own business.
CONSTRUCTED = ("forebay.Loader", "forebay.transforms.", "forebay.torch.TorchBatch")
MODULES = ("forebay", "forebay.errors", "forebay.transforms")
# What is reached through a Loader, and has no name in a public module.
REACHED = ("forebay.gpu.GpuArray", "forebay.torch.TorchBatch", "forebay.torch.TorchLoader")
PROTOCOLS = ("__iter__", "__len__", "__enter__", "__exit__", "__cuda_array_interface__", "__dlpack__")


def said(*arguments: str) -> str:
    """What the `forebay` command prints."""
    command = [_command.binary(), *arguments]
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout


def python() -> dict[str, Any]:
    """Every public name: a list of parameters for what is called, else null. Bases of exceptions are under `bases`."""
    names: dict[str, list[str] | None] = {}
    bases: dict[str, list[str]] = {}
    # Only the names count here, so PyTorch itself is not needed.
    absent = {} if importlib.util.find_spec("torch") else {"torch": MagicMock()}
    for torch in absent.values():
        # A class of ours is one of it, too.
        torch.utils.data.SequentialSampler = object
    with patch.dict(sys.modules, absent):
        found = [f"{module}.{name}" for module in MODULES for name in importlib.import_module(module).__all__]
        for path in (*found, *REACHED):
            module, _, name = path.rpartition(".")
            value = getattr(importlib.import_module(module), name)
            names[path] = None
            if inspect.isclass(value):
                names.update({f"{path}.{member}": what for member, what in members(value).items()})
                if path.startswith(CONSTRUCTED) or issubclass(value, tuple):
                    names[path] = parameters(value)
                if issubclass(value, BaseException):
                    names.update({f"{path}.{attribute}": None for attribute in vars(value("a message"))})
                    bases[path] = [f"{base.__module__}.{base.__name__}" for base in value.__mro__[1:-2]]
    return {"names": dict(sorted(names.items())), "bases": bases}


def members(cls: type) -> dict[str, list[str] | None]:
    """Public attributes that a class of ours defines, with the parameters of its methods."""
    found: dict[str, list[str] | None] = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "forebay":
            for name in {*vars(base), *getattr(base, "__annotations__", {})}:
                if name in PROTOCOLS or not name.startswith("_"):
                    value = inspect.getattr_static(cls, name, None)
                    value = getattr(value, "__func__", value)
                    found.setdefault(name, parameters(value) if inspect.isroutine(value) else None)
    return found


def parameters(function: Any) -> list[str]:
    """The parameters as they are written in a `def`, without annotations. A lone "*" begins those by name."""
    written: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f"={each.default!r}"
        written.append(f"{stars}{each.name}{default}")
    return written


def commands() -> dict[str, list[str]]:
    """Each command's options and arguments, by its `--help`. An option that takes a value ends in "="."""
    found: dict[str, list[str]] = {}

    def ask(*command: str) -> None:
        text = said(*command, "--help")
        options = re.findall(r"^ {2,6}(?:(-\w), )?(--[\w-]+)(\[=|[ =]<)?", text, re.MULTILINE)
        written = [f"{name}{'=' if value else ''}" for short, long, value in options for name in (short, long) if name]
        section = re.search(r"^Arguments:\n((?: .*\n)+)", text, re.MULTILINE)
        arguments = re.findall(r"^  ([<\[].*?[>\]](?:\.\.\.)?)", section[1], re.MULTILINE) if section else []
        found[" ".join(command)] = [*arguments, *sorted(written)]
        section = re.search(r"^Commands:\n((?: .*\n)+)", text, re.MULTILINE)
        for name in re.findall(r"^  ([a-z-]+)", section[1], re.MULTILINE) if section else []:
            if name != "help":
                ask(*command, name)

    ask()
    return found


def settings(example: str) -> dict[str, dict[str, Any]]:
    """Each key of `forebay config --example`: its value there, and whether that is its default."""
    found: dict[str, dict[str, Any]] = {}
    table, comment, keys = "", "", False
    for line in example.splitlines():
        if header := re.match(r"(?:# )?\[([\w.]+)\]$", line):
            table, comment = f"{header[1]}.", ""
        elif key := re.match(r"(?:# )?([a-z_]+) = (.+)$", line):
            # A comment is for all keys that follow it directly.
            default = not re.search(r"\bRequired\b|\bLeft out\b", comment)
            found[table + key[1]] = {"value": key[2], "default": default}
            keys = True
        else:
            comment = line if keys or not line else comment + line
            keys = False
    return found


def metrics(text: str) -> dict[str, list[str]]:
    """Each metric of Prometheus' text format: its type, then its labels."""
    found = {name: [kind] for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? ", text, re.MULTILINE):
        for label in re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', labels):
            if label not in found[name]:
                found[name].append(label)
    return found


def fields(value: Any, path: str = "") -> list[str]:
    """Paths of all fields of JSON, such as `streams[].name`."""
    if isinstance(value, list):
        return sorted({each for item in value for each in fields(item, f"{path}[]")})
    if not isinstance(value, dict):
        return []
    names = [f"{path}.{name}".lstrip(".") for name in value]
    return sorted({*names, *(each for name in value for each in fields(value[name], f"{path}.{name}".lstrip(".")))})


def fields_of_machine(dataset: Path) -> dict[str, list[str]]:
    """Fields of what is told without a daemon: of `doctor` the outermost, since others depend on the machine."""
    bench = ("bench", str(dataset), "--seconds", "1", "--size", "8", "--batch-size", "4", "--json")
    return {"bench": fields(json.loads(said(*bench))), "doctor": sorted(json.loads(said("doctor", "--json")))}


# A number whose field is read no more, and which no other field gets.
RESERVED = "reserved"


def messages() -> dict[str, str]:
    """Fields and enum values of the .proto files, by their number: `StoredHead.1` is `uint32 version`."""
    found: dict[str, str] = {}
    for file in sorted((ROOT / "proto").glob("**/*.proto")):
        inside: list[str] = []
        for line in file.read_text().splitlines():
            line = line.partition("//")[0].strip()
            if opened := re.match(r"(?:message|enum|oneof|service) (\w+) \{", line):
                # Members of a oneof are fields of the message around it.
                inside.append("" if line.startswith("oneof") else opened[1])
            if field := re.match(r"(?:([\w.<>, ]+) )?(\w+) = (\d+);", line):
                kind, name, number = field.groups()
                found[".".join([*filter(None, inside), number])] = " ".join(filter(None, (kind, name)))
            if reserved := re.match(r"reserved (\d+);", line):
                found[".".join([*filter(None, inside), reserved[1]])] = RESERVED
            if call := re.match(r"rpc (\w+)(.+?)[;{]", line):
                found[".".join([*inside, call[1]])] = call[2].strip()
            if line.endswith("}"):
                inside.pop()
    return found


def ring() -> dict[str, Any]:
    """Version, kinds and tables of bytes in docs/ring.md. A test of the ring compares that page with the code."""
    page = (ROOT / "docs" / "ring.md").read_text()
    tables = {"Kinds": [" ".join(row) for row in re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", page, re.MULTILINE)]}
    tables.update(_tables(page))
    version = re.search(r"\| protocol \| version, (\d+) \|", page)
    assert version, "docs/ring.md names the protocol's version"
    return {"protocol": int(version[1]), "tables": tables}


def _tables(page: str) -> Iterator[tuple[str, list[str]]]:
    title = ""
    rows: list[str] = []
    for line in [*page.splitlines(), ""]:
        if heading := re.match(r"(?:\*\*(\w+)\*\*|### (\w+)$)", line):
            title = heading[1] or heading[2]
        if row := re.match(r"\| (\d+) \| (\d+) \| (\w+) \|", line):
            rows.append("{3}: {2} bytes at {1}".format(*row.group(0, 1, 2, 3)))
        elif rows:
            yield title, rows
            rows = []
