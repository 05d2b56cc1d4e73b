"""Figures about the code: how large each crate is, and what keeps a stranger from reading it. Nothing is judged here.

    .venv/bin/python scripts/figures.py           # the table
    .venv/bin/python scripts/figures.py --names   # and what each figure counts, by name

It reads the files that git tracks in the folder where it is started, so it also takes another checkout.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FIELDS = 10
WORDS = re.compile(r"//.*\b(whoever|somebody|nobody|stands?|goes? on|anew)\b", re.IGNORECASE)
TESTS = re.compile(
    r"#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:pub(?:\([^)]*\))? )?mod \w+(?:;| \{.*?\n\}(?:\n|$))", re.DOTALL
)
STRUCT = re.compile(
    r"((?:^[ \t]*(?:#\[[^\n]*\]|///[^\n]*)\n)*)^[ \t]*(?:pub(?:\([^)]*\))? )?struct (\w+)[^;{(]*\{(.*?)^[ \t]*\}",
    re.DOTALL | re.MULTILINE,
)
FIELD = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:r#)?\w+:\s", re.MULTILINE)
IMPL = re.compile(r"^impl(?:<[^{]*?>)?\s+([A-Z]\w*)(?:<[^{]*?>)?\s*(?:where[^{]*)?\{", re.MULTILINE)
# Layouts that others fix, command lines, stored documents and reports.
NOT_COUNTED = re.compile(r"repr\(C|\bArgs\b|\bParser\b|\bSerialize\b|\bDeserialize\b|prost::Message")


class File(NamedTuple):
    """A tracked file of a crate."""

    path: str
    crate: str
    text: str

    @property
    def is_test(self) -> bool:
        """Whether all of it is tests or what only tests use."""
        parts = Path(self.path).with_suffix("").parts
        return "benches" in parts[1:] or bool({"tests", "model", "suite", "scene", "invariants"} & set(parts))

    def product(self) -> str:
        """Its text without the tests that stand in it."""
        return "" if self.is_test else TESTS.sub("", self.text)

    def module(self) -> tuple[str, ...]:
        """Its place in the tree of the crate's modules."""
        parts = Path(self.path).with_suffix("").parts
        below = parts[parts.index("src") + 1 :] if "src" in parts else parts[-1:]
        return tuple(part for part in below if part not in ("lib", "main"))


def tracked() -> list[File]:
    """The Rust files of the crates, but for generated ones."""
    listed = subprocess.run(["git", "ls-files", "*Cargo.toml", "*.rs"], capture_output=True, text=True, check=True)
    names = listed.stdout.split()
    crates = [str(Path(name).parent) for name in names if name.endswith("/Cargo.toml")]
    files = []
    for name in names:
        owners = [crate for crate in crates if name.startswith(f"{crate}/")]
        if name.endswith(".rs") and owners and "/gen/" not in name:
            files.append(File(name, max(owners, key=len), Path(name).read_text()))
    return files


def lines(files: list[File]) -> dict[str, tuple[int, int]]:
    """For each crate, its lines of product and of tests."""
    sizes: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for file in files:
        product = file.product().count("\n")
        before = sizes[file.crate]
        sizes[file.crate] = (before[0] + product, before[1] + file.text.count("\n") - product)
    return sizes


def large_types(files: list[File]) -> Iterator[str]:
    """Structs with more than so many fields."""
    for file in files:
        for attributes, name, body in STRUCT.findall(file.product()):
            fields = len(FIELD.findall(re.sub(r"//[^\n]*", "", body)))
            if fields > FIELDS and not NOT_COUNTED.search(attributes):
                yield f"{file.path}: {name}, {fields} fields"


def spread_types(files: list[File]) -> Iterator[str]:
    """Types that have methods of their own in several files."""
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file in files:
        for name in IMPL.findall(file.product()):
            places[file.crate, name].add(file.path)
    for (crate, name), paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"{crate}: {name}, in {len(paths)} files"


def arrows_up(files: list[File]) -> Iterator[str]:
    """Files that import what stands in a file that they are below: crate::NAME, or super::NAME."""
    defined = re.compile(
        r"^(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe |extern \"C\" )*"
        r"(?:fn|struct|enum|trait|type|const|static|union|macro_rules!) (\w+)",
        re.MULTILINE,
    )
    by_module = {(file.crate, file.module()): file for file in files if not file.is_test and "/src/" in file.path}
    own = {key: set(defined.findall(file.product())) for key, file in by_module.items()}
    for (crate, module), file in sorted(by_module.items()):
        if not module:
            continue
        code = re.sub(r"//[^\n]*", "", file.product())
        for depth in range(len(module)):
            above = (crate, module[:depth])
            if above not in own:
                continue
            starts = [f"crate::{''.join(f'{part}::' for part in module[:depth])}"]
            starts.append("super::" * (len(module) - depth))
            names: set[str] = set()
            for start in starts:
                for one, several in re.findall(rf"(?<!:){re.escape(start)}(?:(\w+)|\{{([^}}]*)\}})", code):
                    names |= {one} if one else {word.strip().split("::")[0] for word in several.split(",")}
            if used := names & own[above]:
                yield f"{file.path} -> {by_module[above].path}: {', '.join(sorted(used))}"


def words(files: list[File]) -> Iterator[str]:
    """Comments with words that most readers have to read twice."""
    for file in files:
        if "tests" not in file.path:
            for number, line in enumerate(file.text.splitlines(), 1):
                if WORDS.search(line):
                    yield f"{file.path}:{number}"


def arguments() -> Iterator[str]:
    """Arguments of `forebay.Loader`."""
    for path in subprocess.run(
        ["git", "ls-files", "clients/python/python/forebay"], capture_output=True, text=True, check=True
    ).stdout.split():
        if not path.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(Path(path).read_text())):
            if isinstance(node, ast.ClassDef) and node.name in ("Loader", "Arguments"):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                        taken = method.args
                        yield from (argument.arg for argument in [*taken.args[1:], *taken.kwonlyargs])


def keys() -> Iterator[str]:
    """Keys of the configuration, as docs/configuration.md has them."""
    section, in_example = "", False
    for line in Path("docs/configuration.md").read_text().splitlines():
        if line.startswith("```"):
            in_example = line == "```toml"
        elif in_example and (table := re.match(r"(?:# )?\[([\w.]+)\]$", line)):
            section = table[1]
        elif in_example and (key := re.match(r"(?:# )?(\w+) = ", line)):
            yield f"{section} {key[1]}".strip()


def options(files: list[File]) -> Iterator[str]:
    """Options and arguments of the commands."""
    for file in files:
        if file.crate == "cli":
            found = re.findall(
                r"#\[arg\((?:[^()]|\([^()]*\))*\)\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([^)]*\))? )?(\w+):", file.product()
            )
            yield from (f"{file.path}: {name}" for name in found)


def main(arguments_given: list[str]) -> None:
    """Prints the table, and the names if they are asked for."""
    files = tracked()
    print(f"{'crate':22}{'product':>9}{'tests':>9}")
    sizes = lines(files)
    for crate, (product, tests) in sorted(sizes.items()):
        print(f"{crate:22}{product:9}{tests:9}")
    print(f"{'all':22}{sum(size[0] for size in sizes.values()):9}{sum(size[1] for size in sizes.values()):9}\n")
    figures = {
        f"types with over {FIELDS} fields": large_types(files),
        "types with methods in several files": spread_types(files),
        "files that import from one that they are below": arrows_up(files),
        "comments with private words": words(files),
        "arguments of Loader": arguments(),
        "keys of the configuration": keys(),
        "options of commands": options(files),
    }
    for title, found in figures.items():
        names = list(found)
        print(f"{title:48}{len(names):6}")
        if "--names" in arguments_given:
            print("".join(f"    {name}\n" for name in names), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
