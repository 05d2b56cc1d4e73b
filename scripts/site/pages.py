"""Hooks of mkdocs: pages of docs/, which are written for the repository, become pages of a site.

The table in docs/README.md becomes the navigation. A link that leaves docs/ becomes a link to the repository, and
pictures outside of docs/ are copied. What is missing is a warning, which ends a strict build.
"""

from __future__ import annotations

import os.path
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
LOG = get_plugin_logger("pages")
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:|#")
PICTURES = (".png", ".svg")
DECISIONS = "decisions/index.md"
STYLE = "style.css"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Takes the repository from Cargo.toml, and the navigation from the index."""
    repository = re.search(r'^repository = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    config.repo_url = repository[1]
    config.nav = list(navigation(config.repo_url))
    config.extra_css.append(STYLE)
    # The anchors of GitHub, which links within the repository use.
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what is not a file below docs/: the list of decisions, the style, pictures from elsewhere."""
    style = Path(__file__).with_name("style.css").read_text() + HtmlFormatter().get_style_defs(".highlight")
    files.append(File.generated(config, STYLE, content=style))
    files.append(File.generated(config, DECISIONS, content=decisions()))
    for page in DOCS.rglob("*.md"):
        for target in LINK.findall(page.read_text()):
            path = Path(os.path.normpath(page.parent / target))
            if target.endswith(PICTURES) and path.is_file() and DOCS not in path.parents:
                uri = copied(path)
                if files.get_file_from_path(uri) is None:
                    files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Adapts a page. Code in fences only loses the tags for scripts/readme.py."""
    lines = []
    fenced = False
    listed = False
    for line in markdown.splitlines():
        if not fenced:
            listed = line.startswith(("* ", "- ")) or (listed and line[:1] in ("", " "))
        # GitHub takes two spaces for the rest of an item, and Python's Markdown four.
        indent = "  " if listed and line.startswith("  ") else ""
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = re.sub(r"(```\w+) .*", r"\1", line)
        elif not fenced:
            line = LINK.sub(lambda link: f"]({moved(link[1], page.file.src_uri, config.repo_url)})", line)
        lines.append(indent + line)
    return "\n".join(lines)


def navigation(repository: str) -> Iterator[dict[str, Any]]:
    """A section for each row of the index. A page that an earlier row has is not listed again."""
    yield {"Index": "README.md"}
    seen = set()
    for task, links in re.findall(r"^\| (.+?) \| (.+) \|$", (DOCS / "README.md").read_text(), re.MULTILINE):
        pages: list[Any] = []
        for name, target in re.findall(r"\[([^]]+)\]\(([^)]+)\)", links):
            target = moved(target, "README.md", repository)
            if target not in seen:
                seen.add(target)
                pages.append({name: target} if ELSEWHERE.match(target) else target)
        if pages:
            yield {task[0].upper() + task[1:]: pages}


def moved(target: str, page: str, repository: str) -> str:
    """Where a link of a page leads on the site."""
    if ELSEWHERE.match(target):
        return target
    name, _, heading = target.partition("#")
    path = Path(os.path.normpath((DOCS / page).parent / name))
    if path == DOCS / "decisions":
        return posixpath.relpath(DECISIONS, posixpath.dirname(page) or ".")
    if DOCS in path.parents:
        return target
    if not path.exists() or ROOT not in path.parents:
        LOG.warning("docs/%s has a link to '%s', which does not exist", page, target)
    elif heading and heading not in headings(path):
        LOG.warning("docs/%s has a link to '%s', but there is no such heading", page, target)
    if path.suffix in PICTURES:
        return posixpath.relpath(copied(path), posixpath.dirname(page) or ".")
    kind = "tree" if path.is_dir() else "blob"
    return f"{repository}/{kind}/HEAD/{path.relative_to(ROOT).as_posix()}" + (f"#{heading}" if heading else "")


def copied(picture: Path) -> str:
    """Where the site has a picture that is outside of docs/."""
    return f"pictures/{picture.name}"


def headings(page: Path) -> set[str]:
    """The anchors of a page that is not a page of the site."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {anchor(heading, "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def anchor(heading: str, separator: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def decisions() -> str:
    """The page that lists the decisions. The repository lists the folder's files instead."""
    lines = ["# Decisions", "", "One page for each choice.", ""]
    for page in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        title = page.read_text().splitlines()[0].lstrip("# ")
        lines.append(f"* [{title}]({page.name})")
    return "\n".join(lines) + "\n"
