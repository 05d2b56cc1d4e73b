"""What `make release-check` finds missing, the workflow that publishes, and what the scripts of a release print."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest
from conftest import ROOT, SCRIPTS

sys.path.insert(0, str(SCRIPTS))

import release

WHEELS = [f"forebay-1.2.3-cp39-abi3-manylinux_2_28_{machine}.whl" for machine in ("x86_64", "aarch64")]
FILES = {
    "Cargo.toml": '[workspace]\nmembers = ["ring"]\n\n[workspace.package]\nversion = "1.2.3"\n',
    "ring/Cargo.toml": "[package]\nversion.workspace = true\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2027-01-31\n\n### Added\n\n- All.\n",
    "docs/install.md": f"pip install dist/{WHEELS[0]}\napt install libforebay1.2\n",
    "deploy/kubernetes/forebay/Chart.yaml": "version: 1.2.3\nappVersion: 1.2.3\n",
    "deploy/kubernetes/plain.yaml": "          image: forebay:1.2.3\n",
    "clients/python/tests/compat/1.2/names.json": "{}\n",
    ".gitignore": "/dist/\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project that can be released."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "All")
    (tmp_path / "dist").mkdir()
    lines = []
    for name in WHEELS:
        (tmp_path / "dist" / name).write_bytes(name.encode())
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n")
    (tmp_path / "dist" / "SHA256SUMS").write_text("".join(lines))
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def missing(project: Path) -> list[str]:
    """What all checks but that of builds say."""
    checks = (release.versions, release.changelog, release.compat, release.commit, release.sums)
    return [line for check in checks for line in check(project)]


def test_a_project_that_is_ready_lacks_nothing(project: Path):
    assert missing(project) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("ring/Cargo.toml", ".workspace = true", ' = "1.2.2"', "ring/Cargo.toml has a version of its own"),
        ("deploy/kubernetes/forebay/Chart.yaml", "appVersion: 1.2.3", "appVersion: 1.2.2", "has version 1.2.2"),
        ("deploy/kubernetes/plain.yaml", "forebay:1.2.3", "forebay:latest", "has version latest"),
        ("docs/install.md", "forebay-1.2.3-", "forebay-1.1.0-", "docs/install.md has version 1.1.0"),
        ("docs/install.md", "libforebay1.2", "libforebay1.1", "docs/install.md has libforebay1.1"),
        ("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- One more.\n", "has 1 lines under Unreleased"),
        ("CHANGELOG.md", " - 2027-01-31", "", "has no date beside version 1.2.3"),
        ("CHANGELOG.md", "[1.2.3]", "[1.2.2]", "has no heading `## [1.2.3] - DATE`"),
    ],
)
def test_each_mistake_is_named(file: str, old: str, new: str, said: str, project: Path):
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    # That the file is not committed is said as well.
    mistake, uncommitted = missing(project)
    assert said in mistake
    assert uncommitted == "1 files are not committed"


def test_a_version_without_its_folder_of_compat_is_named(project: Path):
    shutil.rmtree(project / "clients")
    assert "clients/python/tests/compat/1.2 is not written: run `make compat`" in missing(project)


def test_a_tag_of_another_commit_is_named(project: Path):
    git(project, "tag", "v1.2.3")
    assert missing(project) == []
    git(project, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "More")
    assert missing(project) == ["the tag v1.2.3 is of another commit: raise the version in Cargo.toml"]


def test_files_of_dist_that_do_not_match_their_sums_are_named(project: Path):
    (project / "dist" / WHEELS[0]).write_bytes(b"another")
    (project / "dist" / WHEELS[1]).unlink()
    (project / "dist" / "stranger").write_bytes(b"")
    assert missing(project) == [
        f"dist/SHA256SUMS has {WHEELS[1]}, which is not there",
        f"dist/{WHEELS[0]} is not the file of SHA256SUMS",
        "dist/SHA256SUMS lacks stranger",
        f"dist/ has no {WHEELS[1]}",
    ]


def test_this_project_names_one_version_everywhere():
    assert list(release.versions(ROOT)) == []


def test_actionlint_finds_nothing_in_the_workflows_and_something_in_a_wrong_one(
    tool: Callable[..., Path], tmp_path: Path
):
    actionlint = tool("actionlint.sh") / "actionlint"
    workflow = ROOT / ".github" / "workflows" / "release.yml"
    checked = subprocess.run([actionlint, workflow], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "")
    wrong = tmp_path / "release.yml"
    wrong.write_text(workflow.read_text().replace("needs: try", "needs: tries"))
    refused = subprocess.run([actionlint, wrong], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "tries" in refused.stdout


def test_a_wheel_that_another_build_does_not_give_is_named():
    made = {"a.whl": "1", "b.whl": "2", "c.whl": "3"}
    assert list(release.differing(made, dict(made))) == []
    said = list(release.differing(made, {"a.whl": "1", "b.whl": "4", "d.whl": "5"}))
    assert [line.split(" is ")[0] for line in said] == ["dist/b.whl", "dist/c.whl", "dist/d.whl"]
