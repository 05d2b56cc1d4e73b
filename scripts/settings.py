"""Compares what is made from the daemon's settings with the code, or writes it anew with --write.

`forebay config --schema` has all keys of a stream. They become the Loader's arguments, their texts, and the classes
that group some of them. `forebay config --example` becomes docs/configuration.md.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "clients" / "python" / "python" / "forebay"
MADE = "Made by `make docs` from `forebay config --schema`; a test compares. Change the keys, not this file."
PAGE = """\
# Configuration

<!-- Made by `make docs` from `forebay config --example`; a test compares. Change the code, not this file. -->

`forebay serve --config FILE` reads TOML. Unknown keys are refused, and every mistake is reported at once, with the
line, the key, what is wrong and what is allowed. `forebay config --check FILE` does that, and says which datasets,
groups and memory this machine does not have. `forebay serve PATH` is the configuration below with one stream named
`default`: PATH, shuffled, at 224 x 224. `forebay config --schema` prints the keys of a stream as JSON.

A `[streams.NAME]` table has the settings of `forebay.Loader` as keys, with the same defaults. In Python, some of them
are in a class:

| class | keys |
|---|---|
{classes}
| `forebay.Mixing` | `mixing_per_batch` |

{only}
A Loader that attaches to `stream:NAME` may leave settings out. Those that it gives must agree with the stream's. A
field of a class that has its default asks for nothing.

{own}

```python
loader = forebay.Loader(
    "/data/train",
    batch_size=256,
    size=224,
    config={{"decode": {{"lanes": ["hardware", "cpu"]}}, "stream": {{"read_timeout": "10s"}}}},
)
```

What follows is what `forebay config --example` prints.

```toml
"""

# Arguments that say how this process attaches: their name, type, default, text, and the key that they come after.
OWN = (
    (
        "targets",
        "Targets",
        None,
        "What a batch has beside the pictures: labels, columns, masks. See `forebay.Targets`. None has the defaults.",
        "mixing",
    ),
    (
        "sharding",
        "str | Shard | Lockstep",
        None,
        "How the trainers of a job share an epoch. `Shard(shard_id, num_shards)`: each rank reads its shard. "
        '`Lockstep(global_batch)`: all ranks read the same step, whatever their number. "dynamic": each takes the '
        "next "
        'batch. None is "dynamic" for a process that trains alone. A rank of a job has to give one of the three.',
        "run",
    ),
    (
        "group",
        "str",
        None,
        'The group that this trainer joins, in a stream with `groups = "each"`. Trainers of one group share batches. '
        "None: "
        "this trainer is a group by itself.",
        "",
    ),
    (
        "join",
        "str",
        '"next"',
        'When a group begins that comes while the stream runs: "next" with the next batch, "epoch" with the next '
        "epoch.",
        "",
    ),
    (
        "writable",
        "bool",
        "False",
        "True makes each batch a copy with its own arrays in the host, which you may keep and write to, as "
        "`Batch.copy()` "
        "does. False gives read-only views on the ring.",
        "",
    ),
    (
        "socket",
        "str | os.PathLike[str]",
        None,
        "Path of the socket of a running `forebay serve`. `source` is then the stream's name. None is the usual path.",
        "",
    ),
    (
        "wait",
        "float | str",
        None,
        'How long to wait for a `forebay serve` that does not answer yet: seconds, or a text such as "60s". In '
        "containers, "
        "a trainer may start before the daemon. Only for streams. None is an error at once.",
        "",
    ),
    (
        "config",
        "Mapping[str, Mapping[str, Any]]",
        None,
        "The configuration of this process's own daemon: a dict of sections of docs/configuration.md, such as "
        '`{"decode": {"lanes": ["hardware", "cpu"]}, "stream": {"read_timeout": "10s"}}`. The section "stream" has '
        "keys "
        "of a `[streams.NAME]` table that are no arguments here. The first Loader of a process decides on all "
        "others. For a "
        "stream, the daemon has its configuration already. None has the defaults.",
        "",
    ),
)
SOURCE = """\
A folder of pictures or of class folders, a `.csv` file, a `.txt` file with one path per line, or a list of files. The
list may have (path, label) pairs, such as `ImageFolder.samples` of torchvision. Labels are int or str; str labels
become classes. docs/sources.md lists all other sources, such as `tar:`, `parquet:`, and `python:` for your own class
that reads records. `stream:NAME` is a stream of a running `forebay serve`. This process's own daemon reads everything
but a stream. It starts with the first Loader that needs it, and ends with the last. A list of folders or of sources
with a scheme, such as `["/data/a", "tar:/data/b.tar"]`, is one dataset of all of them. A dict from source to weight,
such as `{"/data/a": 0.7, "/data/b": 0.3}`, gives each its share of every epoch. A dict from first epoch to weight, such
as `{0: 0.7, 10: 0.5}`, changes a weight from epoch 10 on. `forebay.Source` adds an index, a root or options to a
source.
"""
ARGUMENTS = '''\
"""The arguments of a Loader, with their texts.

{made}
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.batch import Batch
from forebay.batches import Batches
from forebay.call import remember_given
from forebay.groups import Lockstep, Shard, Targets
from forebay.mixing import Mixing
from forebay.settings import AnySource
from forebay.transforms import Transform

__all__ = ["Arguments"]


class Arguments(Batches[Batch]):
    """What a Loader takes. `Loader` does the rest."""

    _given: dict[str, Any]

    @remember_given
    def __init__(
        self,
        source: AnySource,
        *,
{signature}
    ) -> None:
        """Attaches.

        Args:
{texts}

        Raises:
            SettingsError: With every setting that is wrong.
            DatasetError: The dataset is missing, empty or unreadable.
            AttachError: No daemon could be reached or started, or it refused this trainer.
            GpuError: The ring cannot be page-locked.
        """
        self._start(source, self._given)

    def _start(self, source: AnySource, given: Mapping[str, Any]) -> None:
        raise NotImplementedError
'''
GROUPS = '''\
"""Settings of a Loader that belong together.

{made}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Lockstep", "Shard", "Source", "Targets"]


class Source:
    """A source with an index, a root or options.

    Args:
        url: What a Loader takes as its source: a path, a URL, or a list of files. One of several sources of a Loader is
            a path or a URL.
{source}
        **options: Options of the source, by their names. docs/sources.md lists them. All sources have `roles`:
            `roles={{"boxes": "xywh"}}` says that a column has boxes, which then follow their pictures.

    Example:
        >>> source = Source("csv:/data/train.csv", root="/data", limit=1000)
        >>> loader = forebay.Loader(source, batch_size=64, size=224)                            # doctest: +SKIP
    """

    __slots__ = ("index", "options", "root", "url")

    def __init__(
        self,
        url: str | os.PathLike[str] | Iterable[Any],
        *,
{parameters}
        **options: str | int | bool | Mapping[str, str],
    ) -> None:
        self.url = url
        self.index = index
        self.root = root
        self.options = options

    def __repr__(self) -> str:
        given = {{name: value for name, value in (("index", self.index), ("root", self.root)) if value is not None}}
        words = "".join(f", {{name}}={{value!r}}" for name, value in {{**given, **self.options}}.items())
        return f"Source({{self.url!r}}{{words}})"
'''
# The classes of groups: the text above and below the fields, and the fields that need no name.
CLASSES = {
    "Targets": (
        "What a batch has beside the pictures: labels, columns, masks.",
        '>>> targets = Targets(columns=["boxes"], min_visible=0.2)\n'
        '>>> loader = forebay.Loader("coco:/data/train.json", batch_size=64, size=512, targets=targets)  # '
        "doctest: +SKIP",
        (),
    ),
    "Shard": (
        "Each rank reads one of `num_shards` equal shards of the dataset. For ranks that wait for each other in "
        "each step.",
        ">>> sharding = Shard(rank := 0, world := 8)\n"
        '>>> loader = forebay.Loader("/data/train", batch_size=32, size=224, sharding=sharding)  # doctest: +SKIP',
        ("shard_id", "num_shards"),
    ),
    "Lockstep": (
        "All ranks of a training job read the same step, whatever their number: each its part.",
        ">>> sharding = Lockstep(global_batch=1024)\n"
        '>>> loader = forebay.Loader("/data/train", size=224, sharding=sharding)  # doctest: +SKIP',
        (),
    ),
}


def main() -> None:
    """Compares or writes."""
    keys = json.loads(_said("--schema"))["stream"]
    made = {
        ROOT / "docs" / "configuration.md": _page(keys) + _said("--example") + "```\n",
        PACKAGE / "arguments.py": _arguments(keys),
        PACKAGE / "groups.py": _groups(keys),
    }
    for file, text in made.items():
        if "--write" in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            sys.exit(f"{file.relative_to(ROOT)} is not what the code says: run `make docs`")


def _said(option: str) -> str:
    binary = os.environ.get("FOREBAY_BIN", ROOT / "target" / "debug" / "forebay")
    return subprocess.run([binary, "config", option], check=True, stdout=subprocess.PIPE, text=True).stdout


def _page(keys: list[dict[str, Any]]) -> str:
    def of(home: str) -> str:
        return _listed(f"`{key['name']}`" for key in keys if key["home"] == home)

    source = f"{of('Source')}, and `source_options` as named arguments"
    rows = [("Targets", of("Targets")), ("Source", source), ("Shard", of("Shard")), ("Lockstep", of("Lockstep"))]
    only = f"""\
Only a table has {of("service")}. Only Python has `shard_id`, `rank`, `world_size`, and the arguments of the Loader that
say how a trainer attaches: {_listed(f"`{own[0]}`" for own in OWN if not own[4])}. In Python, `weights` are the values
of a dict of sources.
"""
    classes = "\n".join(f"| `forebay.{name}` | {names} |" for name, names in rows)
    own = f"""\
A Loader of a path has a daemon of its own. What has no argument, such a Loader takes as `config`: a dict with the
sections below, and with the section `stream` for {of("config")}:
"""
    only, own = textwrap.fill(only, 120) + "\n", textwrap.fill(own, 120)
    return PAGE.format(classes=classes, only=only, own=own)


def _listed(names: Iterator[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _arguments(keys: list[dict[str, Any]]) -> str:
    signature, texts = [], list(_entry("source", " ".join(SOURCE.split())))
    own = {name: (python, default, text) for name, python, default, text, _ in OWN}
    for name in _order(keys):
        if name in own:
            python, default, text = own[name]
        else:
            key = next(key for key in keys if key["name"] == name)
            python, default, text = key["python"], _default(key), _text(key, keys)
        signature.append(_parameter(name, python, default, 8))
        texts += _entry(name, text)
    return ARGUMENTS.format(made=MADE, signature="\n".join(signature), texts="\n".join(texts))


def _order(keys: list[dict[str, Any]]) -> Iterator[str]:
    for key in keys:
        if key["home"] == "Loader":
            yield key["name"]
        yield from (name for name, *_, after in OWN if after == key["name"])
    yield from (name for name, *_, after in OWN if not after)


def _groups(keys: list[dict[str, Any]]) -> str:
    of_source = sorted((key for key in keys if key["home"] == "Source"), key=lambda key: key["name"])
    texts = "\n".join(line for key in of_source for line in _entry(key["name"], _text(key, keys), 8))
    parameters = "\n".join(_parameter(key["name"], key["python"], _default(key), 8) for key in of_source)
    text = GROUPS.format(made=MADE, source=texts, parameters=parameters)
    for name, (head, example, placed) in CLASSES.items():
        fields = [key for key in keys if key["home"] == name]
        fields.sort(key=lambda key: key["name"] not in placed)
        text += f'\n\n@dataclass(frozen=True)\nclass {name}:\n    """{head}\n\n    Attributes:\n'
        text += "\n".join(line for key in fields for line in _entry(key["name"], _text(key, keys), 8)) + "\n"
        text += f"\n    Example:\n{textwrap.indent(example, ' ' * 8)}\n" + '    """\n\n'
        for key in fields:
            parameter = _parameter(key["name"], key["python"], _default(key), 4).rstrip(",")
            text += parameter + "\n"
    return text


def _default(key: dict[str, Any]) -> str | None:
    """The default as Python has it; None for the None that means that nothing is given."""
    if key["default"] is None or key["undecided"]:
        return None
    return {"true": "True", "false": "False"}.get(key["default"], key["default"])


def _parameter(name: str, python: str, default: str | None, indent: int) -> str:
    noqa = "  # noqa: ANN401 - whatever numpy or PyTorch takes" if python == "Any" and indent == 8 else ""
    if default is None:
        return f"{' ' * indent}{name}: {python} | None = None,"
    return f"{' ' * indent}{name}: {python} = {default},{noqa}"


def _text(key: dict[str, Any], keys: list[dict[str, Any]]) -> str:
    """The help as Python says it."""
    text = re.sub(r"`(\w+) = ([^`]+)`", r"`\1=\2`", key["help"])
    text = text.replace("Left out: ", "None: ").replace(" table says ", " dict says ")
    text = text.replace("a table of the name", "a dict of the name")
    text = re.sub(r"\b(true|false)\b", lambda word: word[0].capitalize(), text)
    known = "|".join(key["name"] for key in keys if "_" in key["name"])
    text = re.sub(rf"(?<![\w`])({known})(?![\w`=])", r"`\1`", text)
    if key["undecided"]:
        text += f" None: {key['default']}, and for a stream what it has."
    return f"{text} {key['in_python']}".strip()


def _entry(name: str, text: str, indent: int = 12) -> list[str]:
    first, rest = " " * indent, " " * (indent + 4)
    wide = {"width": 120, "break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(f"{name}: {text}", initial_indent=first, subsequent_indent=rest, **wide)


if __name__ == "__main__":
    main()
