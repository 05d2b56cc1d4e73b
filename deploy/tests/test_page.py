"""`forebay page` in a real browser, over a live run: in light and dark, on a phone, and by a reader of screens.

The browser is Debian's, unpacked and not installed (`scripts/browser.sh`). FOREBAY_SCREENSHOTS names a folder for
pictures of the pages.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from conftest import run

PATIENCE = 120
WIDTHS = [(360, "light"), (360, "dark"), (1200, "light"), (1200, "dark")]
# What every page must be, by itself: a sentence for each fault.
FAULTS = """
(() => {
  const faults = [];
  const seen = (selector) => [...document.querySelectorAll(selector)];
  const root = document.documentElement;
  const wide = root.scrollWidth - root.clientWidth;
  if (wide > 0) faults.push(`it scrolls sideways by ${wide}`);
  if (root.lang !== "en") faults.push(`lang is ${root.lang}`);
  if (!document.title.includes("Forebay")) faults.push(`the title is ${document.title}`);
  for (const place of ["header", "nav", "main", "footer", "h1"])
    if (!document.querySelector(place)) faults.push(`there is no ${place}`);
  if (seen("main").length !== 1 || seen("h1").length !== 1) faults.push("main and h1 are there once");
  let last = 0;
  for (const heading of seen("h1, h2, h3, h4")) {
    const level = Number(heading.tagName[1]);
    if (level > last + 1) faults.push(`${heading.tagName} ${heading.textContent} follows h${last}`);
    last = level;
  }
  for (const image of seen("img")) {
    if (!image.getAttribute("alt")) faults.push(`${image.src} has no alt`);
    if (!image.complete || image.naturalWidth === 0) faults.push(`${image.src} is not shown`);
  }
  for (const chart of seen("svg"))
    if (chart.getAttribute("role") !== "img" || !chart.getAttribute("aria-label")) faults.push("a chart has no name");
  for (const header of seen("th")) if (!header.scope) faults.push(`${header.textContent} has no scope`);
  for (const table of seen("table")) if (!table.caption) faults.push("a table has no caption");
  for (const bar of seen("progress")) if (!bar.getAttribute("aria-label")) faults.push("a bar has no name");
  for (const nav of seen("nav")) if (!nav.getAttribute("aria-label")) faults.push("a nav has no name");
  for (const link of seen("a")) if (!link.textContent.trim()) faults.push(`${link.href} has no text`);
  const ids = seen("[id]").map((each) => each.id);
  if (new Set(ids).size !== ids.length) faults.push(`an id is there twice: ${ids}`);
  for (const each of seen("[aria-labelledby]"))
    if (!document.getElementById(each.getAttribute("aria-labelledby"))) faults.push("a label is not there");

  // Contrast of text with what is behind it, as WCAG 2 counts it.
  const channels = (colour) => (colour.match(/[0-9.]+/g) || []).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (place) => {
    for (let each = place; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      const alpha = channels(colour)[3];
      if (alpha === undefined || alpha > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const place of seen("main *, header *, footer *")) {
    const own = [...place.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || place.closest("svg") || !place.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(place).color), light(behind(place))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faults.push(`${place.tagName} "${place.textContent.slice(0, 40)}" has contrast ${contrast}`);
  }
  return faults;
})()
"""


@pytest.fixture
def browser(tool, tmp_path) -> Iterator[Browser]:
    browser = Browser(tool("browser.sh") / "chromium", tmp_path / "profile")
    yield browser
    browser.close()


@pytest.fixture
def url(binary, tmp_path) -> Iterator[str]:
    """The page of a daemon whose only stream has bad records, and whose batches `forebay preview` has seen."""
    run(binary, "sample", tmp_path / "pictures", "--count", "60", "--classes", "3")
    pictures = sorted((tmp_path / "pictures").rglob("*.jpg"))
    for number, picture in enumerate(pictures[:8]):
        whole = picture.read_bytes()
        picture.write_bytes(whole[: len(whole) // 2] if number % 2 else b"this is no picture")
    long = pictures[0].with_name("a-name-without-any-place-to-break-" * 5 + ".jpg")
    long.write_bytes(b"<script>alert(1)</script>")
    sockets = tmp_path / "sockets"
    config = tmp_path / "forebay.toml"
    config.write_text(
        f'[control]\ndir = "{sockets}"\n[coordinator]\npath = "{tmp_path}/state"\n[streams.train]\n'
        f'source = "{tmp_path}/pictures"\nbatch_size = 16\nsize = 128\nshuffle = true\non_error = "skip"\nepochs = 2\n'
    )
    serve = subprocess.Popen([binary, "serve", "--config", config], stderr=subprocess.DEVNULL)
    page = None
    try:
        run(binary, "status", "--wait=60s", "--socket-dir", sockets)
        page = subprocess.Popen(
            [binary, "page", "--listen", "127.0.0.1:0", "--socket-dir", sockets], stdout=subprocess.PIPE, text=True
        )
        line = page.stdout.readline()
        for _ in range(3):
            run(binary, "preview", "--socket-dir", sockets, "--stream", "train", "--output", tmp_path / "preview.png")
        yield line.split()[-1]
    finally:
        for process in (page, serve):
            if process is not None:
                process.kill()
                process.wait()


def checked(browser: Browser, url: str, name: str) -> str:
    """Opens a page at each width, in light and dark. It must be without a fault. Gives its text."""
    text = ""
    for width, scheme in WIDTHS:
        browser.open(url, width, scheme)
        faults = browser.value(FAULTS)
        assert not faults, f"{name} at {width}, {scheme}: " + "; ".join(faults)
        dark = browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(23, 25, 27)"
        assert dark == (scheme == "dark"), f"{name}: {scheme}"
        assert not browser.complaints, f"{name} at {width}, {scheme}: {browser.complaints}"
        folder = os.environ.get("FOREBAY_SCREENSHOTS")
        if folder:
            browser.picture(Path(folder) / f"{name}-{width}-{scheme}.png")
        text = browser.value("document.body.innerText")
    return text


def link(browser: Browser, begin: str) -> str:
    """Where the first link leads whose target begins so."""
    found = browser.value(f"[...document.links].map((link) => link.href).find((href) => href.includes('/{begin}?'))")
    assert found, f"no link to {begin}"
    return found


def test_every_page_is_read_on_a_phone_in_the_dark_and_by_a_reader_of_screens(browser, url):
    until = time.monotonic() + PATIENCE
    while "bad record" not in checked(browser, url, "overview"):
        assert time.monotonic() < until, "no bad record is counted"
    roles = browser.roles()
    assert ("heading", "Streams") in roles
    assert ("link", "train") in roles
    assert ("progressbar", "epoch") in roles, sorted(set(roles))
    stream = link(browser, "stream")
    text = checked(browser, stream, "stream")
    assert "prefetch" in text
    roles = browser.roles()
    wanted = {"banner", "main", "contentinfo", "navigation", "table", "columnheader", "rowheader"}
    assert wanted <= {role for role, _ in roles}
    assert ("heading", "Ring") in roles
    bad, batch = link(browser, "quarantine"), link(browser, "batch")
    text = checked(browser, bad, "bad")
    assert "<script>alert(1)</script>" not in text
    assert len(re.findall(r"no picture in a known format", text)) >= 4, text
    assert browser.value("document.querySelectorAll('tbody tr').length") >= 8
    pictures = link(browser, "bad-pictures")
    text = checked(browser, pictures, "bad-pictures")
    assert "None of it can be decoded." in text
    shown = [name for role, name in browser.roles() if role == "image"]
    assert len([name for name in shown if name.startswith("What can be decoded of record")]) >= 4, shown
    text = checked(browser, batch, "batch")
    assert "not taken from the ring" in text
    shown = [name for role, name in browser.roles() if role == "image"]
    assert len(shown) > 8, shown
    assert all("as the recipe makes it: class-" in name for name in shown), shown


def test_axe_finds_no_fault_on_any_page(browser, url, tool):
    axe = (tool("axe.sh") / "axe.min.js").read_text()
    run = "axe.run(document, { resultTypes: ['violations'] })"
    told = "found.violations.map((each) => `${each.id}: ${each.help}, at ${each.nodes.map((node) => node.target)}`)"

    def judged(url: str) -> int:
        """How many rules hold. All that can be judged must."""
        passed = 0
        for width, scheme in ((360, "dark"), (1200, "light")):
            browser.open(url, width, scheme)
            browser.value(axe + "; 0")
            faults, passed = browser.value(f"{run}.then((found) => [{told}, found.passes.length])")
            assert not faults, f"{url} at {width}, {scheme}: " + "; ".join(faults)
        return passed

    assert judged(url) > 20
    stream = link(browser, "stream")
    assert judged(stream) > 20
    for begin in ("quarantine", "batch"):
        browser.open(stream, 1200, "light")
        assert judged(link(browser, begin)) > 20
    browser.open(stream, 1200, "light")
    browser.open(link(browser, "quarantine"), 1200, "light")
    assert judged(link(browser, "bad-pictures")) > 20
    # It does find some.
    browser.open("data:text/html,<h1>a</h1><img src=no.png><p style='color:%23ddd'>d</p>", 360, "light")
    browser.value(axe + "; 0")
    found = browser.value(f"{run}.then((found) => [{told}, 0])")[0]
    assert {"image-alt", "html-has-lang"} <= {fault.partition(":")[0] for fault in found}, found


def test_a_page_renews_itself_and_keeps_the_focus(browser, url):
    browser.open(url, 1200, "light")
    browser.value("window.first = document.querySelector('main'); document.querySelector('main article a').focus()")
    focused = browser.value("document.activeElement.href")
    until = time.monotonic() + PATIENCE
    while browser.value("document.querySelector('main') === window.first"):
        assert time.monotonic() < until, "the page does not renew itself"
        time.sleep(0.2)
    assert browser.value("document.activeElement.href") == focused
    assert not browser.complaints, browser.complaints


def test_without_a_script_the_page_has_the_same(browser, url):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(url, 1200, "light")
    roles = browser.roles()
    assert ("heading", "Streams") in roles
    assert ("link", "Reload") in roles
    assert not browser.complaints, browser.complaints


def test_faults_and_complaints_are_found(browser):
    policy = "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'\">"
    faulty = "<h1>a</h1><h3>b</h3><img src=no.png><table><th>c</table><p style='color:red'>d</p>"
    script = "<script>console.error(1)</script>"
    wide = "<svg width=2000 height=9></svg>"
    browser.open("data:text/html," + policy + wide + faulty + script, 360, "light")
    faults = " ".join(browser.value(FAULTS))
    for fault in ("sideways", "lang", "no main", "follows h1", "has no alt", "is not shown", "no scope", "no caption"):
        assert fault in faults, faults
    complaints = " ".join(browser.complaints)
    assert "Content Security Policy" in complaints, complaints
    assert "console" in complaints, complaints
