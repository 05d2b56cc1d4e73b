"""Prints the README as the description of the Python package: links to files of the repository are whole there."""

from __future__ import annotations

import re
import sys

from crates import ROOT

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|mailto:|#)([^)]+)\)")
FILES = "https://github.com/forebay/forebay/blob"
PICTURES = "https://raw.githubusercontent.com/forebay/forebay"


def description(readme: str, version: str) -> str:
    """The README with each link to a file of the repository at the version's tag."""

    def whole(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        return f"{picture}[{text}]({PICTURES if picture else FILES}/v{version}/{path})"

    return LINK.sub(whole, readme)


def main() -> int:
    """Prints the description."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    sys.stdout.write(description((ROOT / "README.md").read_text(encoding="utf-8"), version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
