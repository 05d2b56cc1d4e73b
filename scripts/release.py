"""Says what is missing for a release of this commit: `make release-check`. RELEASE.md has the steps in order.

Usage: release.py [--builds]      (--builds: also builds the wheels again, in another folder, and compares SHA-256)

Each mistake is one line, and the exit status tells whether there is any.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files that name the version for users, and how. Where none does, the pattern is out of date.
NAMED = {
    "docs/install.md": r"forebay[-_](\d+\.\d+\.\d+)[-_]",
    "deploy/kubernetes/forebay/Chart.yaml": r"^(?:version|appVersion): (\S+)$",
    "deploy/kubernetes/plain.yaml": r"image: forebay:(\S+)$",
}


def version_of(root: Path) -> str:
    """The version of the workspace."""
    return re.search(r'^version = "(.+)"$', (root / "Cargo.toml").read_text(), re.MULTILINE)[1]


def versions(root: Path) -> Iterator[str]:
    """Where a file says another version than the workspace's."""
    version = version_of(root)
    for manifest in sorted(root.glob("*/Cargo.toml")) + sorted(root.glob("*/*/Cargo.toml")):
        text = manifest.read_text()
        # The fuzz targets are a workspace of their own, and are not released.
        if manifest.parent.name != "fuzz" and "\n[workspace]" not in text and "version.workspace = true" not in text:
            yield f"{manifest.relative_to(root)} has a version of its own: write `version.workspace = true`"
    for name, pattern in NAMED.items():
        found = set(re.findall(pattern, (root / name).read_text(), re.MULTILINE))
        if not found:
            yield f"{name} names no version: is the pattern in scripts/release.py out of date?"
        for other in sorted(found - {version}):
            yield f"{name} has version {other}, and Cargo.toml has {version}"
    library = f"libforebay{version.rpartition('.')[0]}"
    others = set(re.findall(r"libforebay\d+\.\d+", (root / "docs" / "install.md").read_text())) - {library}
    for other in sorted(others):
        yield f"docs/install.md has {other}, and the library of version {version} is {library}"


def changelog(root: Path) -> Iterator[str]:
    """What is wrong with the changelog: the version has a heading with a date, at the top, and nothing is above it."""
    version, text = version_of(root), (root / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[(.+?)\](.*)$", text, re.MULTILINE)
    if not headings or headings[0][0] != "Unreleased":
        yield "CHANGELOG.md does not begin with a heading `## [Unreleased]`"
    elif rest := re.split(r"^## ", text, flags=re.MULTILINE)[1].partition("\n")[2].strip():
        yield f"CHANGELOG.md has {len(rest.splitlines())} lines under Unreleased: move them to version {version}"
    dates = [date for name, date in headings if name == version]
    if not dates:
        yield f"CHANGELOG.md has no heading `## [{version}] - DATE`"
    elif not re.fullmatch(r" - \d{4}-\d{2}-\d{2}", dates[0]):
        yield f"CHANGELOG.md has no date beside version {version}: write `## [{version}] - YEAR-MONTH-DAY`"


def compat(root: Path) -> Iterator[str]:
    """Whether what this version writes is kept for later ones."""
    name = version_of(root).rpartition(".")[0]
    if not (root / "clients" / "python" / "tests" / "compat" / name / "names.json").is_file():
        yield f"clients/python/tests/compat/{name} is not written: run `make compat`"


def commit(root: Path) -> Iterator[str]:
    """Whether the commit is what would be released."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    if changed := git("status", "--porcelain"):
        yield f"{len(changed.splitlines())} files are not committed"
    tag = f"v{version_of(root)}"
    tagged = git("tag", "--list", tag) and git("rev-parse", f"{tag}^{{commit}}")
    if tagged and tagged != git("rev-parse", "HEAD"):
        yield f"the tag {tag} is of another commit: raise the version in Cargo.toml"


def sums(root: Path) -> Iterator[str]:
    """What is wrong with dist/, if it is there."""
    listed = root / "dist" / "SHA256SUMS"
    if not listed.is_file():
        yield "dist/SHA256SUMS is not there: run `make dist`"
        return
    wanted = dict(reversed(line.split(maxsplit=1)) for line in listed.read_text().splitlines())
    made = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in listed.parent.iterdir()}
    del made["SHA256SUMS"]
    for name in sorted(wanted.keys() | made.keys()):
        if name not in made:
            yield f"dist/SHA256SUMS has {name}, which is not there"
        elif wanted.get(name) != made[name]:
            yield f"dist/{name} is not the file of SHA256SUMS" if name in wanted else f"dist/SHA256SUMS lacks {name}"
    version = version_of(root)
    for machine in ("x86_64", "aarch64"):
        name = f"forebay-{version}-cp39-abi3-manylinux_2_28_{machine}.whl"
        if name not in made:
            yield f"dist/ has no {name}"


def builds(root: Path) -> Iterator[str]:
    """Where the wheels of dist/ are not what HEAD gives in another folder."""
    with tempfile.TemporaryDirectory(dir=root / "target") as scratch:
        folder = Path(scratch, "another-folder")
        subprocess.run(["git", "clone", "-q", root, folder], check=True)
        # Tools are shared. What is built is not.
        (folder / "target").mkdir()
        (folder / "target" / "release-tools").symlink_to(root / "target" / "release-tools")
        (folder / "out").mkdir()
        subprocess.run(["scripts/manylinux.sh", "dist", "out"], cwd=folder, check=True, stdout=sys.stderr)
        again = checksums(folder / "out")
    print(json.dumps(again, indent=1))
    yield from differing(checksums(root / "dist"), again)


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of the wheels of a folder, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.whl")}


def differing(made: dict[str, str], again: dict[str, str]) -> Iterator[str]:
    """The wheels that two builds do not have in common."""
    for name in sorted(made.keys() | again.keys()):
        if made.get(name) != again.get(name):
            yield f"dist/{name} is not what another build gives: {made.get(name)}, {again.get(name)}"


def main() -> int:
    """Prints what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--builds", action="store_true", help="also build the wheels, and compare them with those of dist/"
    )
    asked = parser.parse_args()
    checks = [versions, changelog, compat, commit, sums] + ([builds] if asked.builds else [])
    missing = [line for check in checks for line in check(ROOT)]
    for line in missing:
        print(f"missing: {line}")
    if not missing:
        print(f"version {version_of(ROOT)} can be released: tag this commit as v{version_of(ROOT)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
