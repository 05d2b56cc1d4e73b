"""docs/json.md has every field that commands print with `--json`."""

import json
import re
import subprocess
from pathlib import Path

import forebay
import pytest
from compat.surface import fields

pytestmark = pytest.mark.daemon
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "json.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def missing(section, printed):
    """The fields of what a command has printed that no section names that the page has for it."""
    sections = [SECTIONS[name] for name in [section, *re.findall(r"as in `(\w+)`", SECTIONS[section])]]
    named = {part for span in re.findall(r"`([\w.\[\]]+)`", " ".join(sections)) for part in re.findall(r"\w+", span)}
    return [path for path in fields(printed) if re.findall(r"\w+", path)[-1] not in named]


def test_fields_that_are_not_on_the_page_are_found():
    assert missing("index", {"source": 1, "sizes": {"pixels": {}}, "seek": [{"colour": 1}]}) == ["seek[].colour"]


@pytest.fixture
def said(binary):
    """What a command of `forebay` prints as JSON."""

    def ask(*words):
        done = subprocess.run([binary, *map(str, words), "--json"], capture_output=True, text=True)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return ask


def test_fields_of_commands_without_a_daemon(said, pictures):
    folder = pictures(12)
    (folder / "bad.jpg").write_bytes(b"no picture")
    index = ("index", folder, "--sizes", "--seek", "--output", folder.parent / "of.index")
    asked = {
        "verify": ("verify", folder),
        "index": index,
        "plan": ("plan", folder, "--index", folder.parent / "of.index", "--buckets", "8x8,8x16", "--batch-size", "4"),
        "bench": ("bench", folder, "--seconds", "1", "--size", "8", "--batch-size", "4"),
        "doctor": ("doctor",),
    }
    assert [(name, path) for name, words in asked.items() for path in missing(name, said(*words))] == []


def test_fields_of_a_daemon(said, service, pictures):
    folder = pictures(8)
    (folder / "bad.jpg").write_bytes(b"no picture")
    daemon = service(folder, batch_size=4, size=8, epochs=2, on_error="skip")
    where = ("--socket-dir", daemon.socket.parent)
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        assert sum(batch.valid for batch in loader) == 8
        asked = {
            "status": ("status", *where),
            "top --once": ("top", "--once", *where),
            "status --quarantine": ("status", "--quarantine", *where),
            "audit": ("audit", *where),
        }
        found = {name: said(*words) for name, words in asked.items()}
    assert found["status --quarantine"]["streams"][0]["records"], "there is a bad record to name"
    assert [(name, path) for name, printed in found.items() for path in missing(name, printed)] == []
