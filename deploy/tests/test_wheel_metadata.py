"""What is in the wheel beside the code: licences, notices, a description with whole links, a bill of materials."""

from __future__ import annotations

import email
import json
import re
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, SCRIPTS, run
from packaging import tags

sys.path.insert(0, str(SCRIPTS))

import description

# What pip says where no wheel fits.
REFUSED = "is not a supported wheel on this platform"


def read(wheel: Path, name: str) -> str:
    """A file of the folder with a wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (found,) = (path for path in archive.namelist() if path.endswith(f".dist-info/{name}"))
        return archive.read(found).decode()


def metadata(wheel: Path) -> Message:
    return email.message_from_string(read(wheel, "METADATA"))


def test_a_wheel_has_licences_notices_description_and_types(wheel: Path):
    fields = metadata(wheel)
    assert fields["License-Expression"] == "MIT OR Apache-2.0"
    assert fields.get_all("License-File") == ["LICENSE-APACHE", "LICENSE-MIT", "NOTICES"]
    assert (ROOT / "LICENSE-MIT").read_text() == read(wheel, "licenses/LICENSE-MIT")
    notices = read(wheel, "licenses/NOTICES")
    assert "This software is based in part on the work of the Independent JPEG Group." in notices
    # The first is linked into the daemon alone, the second into Python's half.
    assert "\nredb " in notices
    assert "\npyo3 " in notices
    assert fields["Requires-Python"] == ">=3.9"
    assert {url.partition(",")[0] for url in fields.get_all("Project-URL")} >= {"Repository", "Changelog", "Issues"}
    with zipfile.ZipFile(wheel) as archive:
        assert "forebay/py.typed" in archive.namelist()
        assert "forebay/bin/forebay" in archive.namelist()


def test_links_of_the_description_are_whole(wheel: Path, tool: Callable[..., Path]):
    run(tool("release_tools.sh") / "twine", "check", "--strict", wheel)
    fields = metadata(wheel)
    assert fields["Description-Content-Type"].startswith("text/markdown")
    links = re.findall(r"\]\(([^)]+)\)", fields.get_payload())
    assert len(links) > 10
    for link in links:
        assert link.startswith(("https://", "#")), link
        if found := re.match(r"https://[^/]+/forebay/forebay/(?:blob/)?v[0-9.]+/([^#]+)", link):
            assert (ROOT / found[1]).exists(), link


def test_the_bill_of_materials_has_the_daemon_and_its_libraries_in_c(wheel: Path, tool: Callable[..., Path]):
    text = read(wheel, "sboms/forebay.cyclonedx.json")
    document = json.loads(text)
    components = {component["name"]: component for component in document["components"]}
    for name in ("forebay", "forebay-python", "redb", "pyo3", "tokio"):
        assert name in components
    assert [inside["name"] for inside in components["turbojpeg-sys"]["components"]] == ["libjpeg-turbo"]
    assert [inside["name"] for inside in components["zstd-sys"]["components"]] == ["zstd"]
    assert components["tokio"]["hashes"][0]["alg"] == "SHA-256"
    references = {component["bom-ref"] for component in document["components"]} | {"forebay"}
    for dependency in document["dependencies"]:
        assert {dependency["ref"], *dependency["dependsOn"]} <= references
    checked = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(sys.stdin.read())
sys.exit(str(error) if error else 0)
"""
    python = tool("release_tools.sh") / "python"
    said = subprocess.run([python, "-c", checked], input=text, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("platform", ["musllinux_1_2_x86_64", "macosx_14_0_arm64", "win_amd64"])
def test_pip_refuses_the_wheel_elsewhere_in_the_words_of_the_documents(platform: str, wheel: Path, tmp_path: Path):
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps"]
    command += ["--only-binary", ":all:", "--target", str(tmp_path), "--platform", platform, str(wheel)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode != 0
    assert REFUSED in refused.stderr
    assert f"`{REFUSED}`" in (ROOT / "docs" / "install.md").read_text()


def test_the_tag_of_the_wheel_is_of_each_python_from_3_9_on_and_not_of_free_threaded_ones(wheel: Path):
    (tag,) = tags.parse_tag(wheel.stem.split("-", 2)[2])
    for minor in (9, 11, 14, 20):
        assert tag in set(tags.cpython_tags((3, minor), [f"cp3{minor}"], [tag.platform]))
    for minor, abi in ((8, "cp38"), (14, "cp314t")):
        assert tag not in set(tags.cpython_tags((3, minor), [abi], [tag.platform]))


def test_links_of_the_readme_become_links_to_the_tag():
    made = description.description("[a](docs/a.md#b) ![c](d.svg) [e](https://f) [g](#h)", "1.2.3")
    files, pictures = "https://github.com/forebay/forebay/blob", "https://raw.githubusercontent.com/forebay/forebay"
    assert made == f"[a]({files}/v1.2.3/docs/a.md#b) ![c]({pictures}/v1.2.3/d.svg) [e](https://f) [g](#h)"
