"""The site of docs/: its pages, navigation and search, nothing from elsewhere, and links that are checked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT, run

# What a browser loads by itself. It follows an anchor's link only after a click.
LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}


class Addresses(HTMLParser):
    """Collects what a page loads, and its links."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in LOADED:
                self.loaded.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")
            elif name == "id":
                self.ids.add(value or "")


@pytest.fixture(scope="module")
def site(tool, tmp_path_factory) -> Path:
    tool("mkdocs.sh")
    folder = tmp_path_factory.mktemp("site") / "site"
    run("scripts/site.sh", folder)
    return folder


def pages(site: Path) -> list[Path]:
    found = sorted(site.rglob("*.html"))
    assert len(found) > 70
    return found


def test_each_page_of_the_documents_is_there(site):
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_name(page.name.replace("README", "index")).with_suffix(".html")
        assert (site / name).is_file(), name
    assert "0066-measurements" in (site / "decisions" / "index.html").read_text()


def test_the_navigation_has_the_tasks_of_the_index(site):
    index = (site / "index.html").read_text()
    tasks = re.findall(r"^\| (.+?) \| .*\]\(", (ROOT / "docs" / "README.md").read_text(), re.MULTILINE)
    shown = re.findall(r'<span class="caption-text">(.+?)</span>', index)
    assert len(tasks) > 15
    assert [task[0].upper() + task[1:] for task in tasks] == shown


def test_the_search_finds_pages_and_headings(site):
    entries = {
        entry["location"]: entry for entry in json.loads((site / "search" / "search_index.json").read_text())["docs"]
    }
    assert "seek points" in entries["decoding.html#seek-points"]["text"]
    assert entries["runbook.html#forebaynodegone"]["title"] == "ForebayNodeGone"
    loaded = Addresses(site / "search.html").loaded
    assert any(name.endswith("search/main.js") for name in loaded)


def test_a_browser_loads_nothing_from_elsewhere(site):
    for page in pages(site):
        for address in Addresses(page).loaded:
            assert not re.match(r"[a-z]+:|//", address), f"{page.name} loads {address}"
            # The page for what is not found is served at any path.
            if page.name != "404.html":
                assert (page.parent / address.partition("?")[0]).exists(), f"{page.name} lacks {address}"
    for style in site.rglob("*.css"):
        for address in re.findall(r"url\(['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)", style.read_text()):
            assert not re.match(r"(?!data:)[a-z]+:|//", "".join(address)), f"{style.name} loads {address}"


def test_links_lead_somewhere(site):
    known = {page.resolve(): Addresses(page) for page in pages(site) if page.name != "404.html"}
    outside = set()
    for page, addresses in known.items():
        for link in addresses.links:
            name, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                outside.add(link)
                continue
            target = (page.parent / name).resolve() if name else page
            assert target.exists(), f"{page.name} has a link to {link}"
            if anchor and target in known:
                assert anchor in known[target].ids, f"{page.name} has a link to {link}"
    repository = re.search(r'^repository = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    assert f"{repository}/blob/HEAD/examples/train.c" in outside
    assert f"{repository}/tree/HEAD/deploy/kubernetes/forebay" in outside
    for link in outside:
        if link.startswith(repository + "/"):
            path = re.sub(r"^(blob|tree)/HEAD/|#.*$", "", link[len(repository) + 1 :])
            assert (ROOT / path).exists(), link


def test_each_broken_link_is_named_and_fails(tool, tmp_path):
    tool("mkdocs.sh")
    copy = tmp_path / "copy"
    copy.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in ("docs", "scripts"):
            shutil.copytree(entry, copy / entry.name)
        else:
            (copy / entry.name).symlink_to(entry)
    said = {
        "nowhere-1.md": "is not found",
        "pytorch.md#nowhere-2": "does not contain an anchor",
        "../nowhere-3.md": "does not exist",
        "../ARCHITECTURE.md#nowhere-4": "there is no such heading",
    }
    with (copy / "docs" / "jax.md").open("a") as page:
        page.writelines(f"\n[a link]({link})\n" for link in said)
    # In no index, so in no navigation.
    (copy / "docs" / "forgotten.md").write_text("# Forgotten\n")
    done = subprocess.run(
        [copy / "scripts" / "site.sh", tmp_path / "site"],
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    for link, what in said.items():
        assert any(all(part in line for part in ("jax.md", link, what)) for line in warnings), (link, done.stderr)
    assert "forgotten.md" in done.stderr
    assert f"Aborted with {len(said) + 1} warnings" in done.stderr, done.stderr


def test_two_builds_are_equal(site, tmp_path):
    run("scripts/site.sh", tmp_path / "site")
    files = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert files == sorted(
        path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*") if path.is_file()
    )
    differ = [name for name in files if (site / name).read_bytes() != (tmp_path / "site" / name).read_bytes()]
    assert not differ
