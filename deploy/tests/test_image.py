"""The images: what is in them, and daemon and trainer in two containers that share a folder and no process numbers."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
from conftest import SCRIPTS, run

# What the service needs and no more. With a network of its own, a container could not be reached either.
CONFINED = ("--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges", "--network", "none")
CONFIGURATION = """\
[streams.train]
source = "/data"
batch_size = 4
size = 64
epochs = 2
"""
TRAINER = """\
import os
import forebay
with forebay.Loader("stream:train", wait="60s") as loader:
    epochs = [[int(record) for batch in loader for record in batch.records[: batch.valid]] for _ in range(2)]
print([sorted(records) for records in epochs] == [[*range(12)]] * 2, "process", os.getpid(), "user", os.getuid())
"""
# The daemon's binary in release is 41 MB, and the image must have less than 50.
MOST_BESIDE_THE_BINARY = 9_000_000


@pytest.fixture(scope="module")
def podman(tool: Callable[..., Path]) -> Path:
    """The command podman."""
    return tool("containers.sh") / "podman"


@pytest.fixture(scope="module")
def images(
    podman: Path, binary: Path, wheel: Path, notices: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder with the archives of both images, which podman has loaded."""
    folder = tmp_path_factory.mktemp("images")
    run(SCRIPTS / "image.sh", binary, folder, wheel, **notices)
    for archive in folder.glob("*.oci.tar"):
        run(podman, "load", "-i", archive)
    yield folder
    # Those of earlier runs have lost their names to these.
    run(podman, "image", "prune", "--force")


def loaded(images: Path, name: str) -> str:
    """The name by which podman knows an image."""
    (archive,) = images.glob(f"{name}-[0-9]*.oci.tar")
    with tarfile.open(archive) as file:
        index = json.load(file.extractfile("index.json"))
    return f"localhost/{index['manifests'][0]['annotations']['org.opencontainers.image.ref.name']}"


def files_of(images: Path, name: str) -> dict[str, tarfile.TarInfo]:
    """The files of an image, which has one layer."""
    (archive,) = images.glob(f"{name}-[0-9]*.oci.tar")
    with tarfile.open(archive) as file:
        largest = max((member for member in file if member.isfile()), key=lambda member: member.size)
        with tarfile.open(fileobj=file.extractfile(largest)) as layer:
            return {member.name: member for member in layer if member.isfile()}


@pytest.fixture(scope="module")
def runs(podman: Path, images: Path) -> Path:
    """The command podman, where it starts a container."""
    command = [podman, "run", "--rm", *CONFINED, loaded(images, "forebay"), "--version"]
    tried = subprocess.run(command, capture_output=True, text=True)
    # Its own failures are 125 to 127.
    if tried.returncode in (125, 126, 127):
        pytest.skip(f"podman starts no container here: {tried.stderr.strip()[-300:]}")
    assert tried.returncode == 0, tried.stderr
    return podman


class Containers:
    """Starts containers by podman, and removes them at the end."""

    def __init__(self, podman: Path) -> None:
        self.podman = podman
        self.names: list[str] = []

    def start(self, image: str, *options: str) -> str:
        """Starts a daemon, and returns the container's name."""
        self.names.append(run(self.podman, "run", "-d", *CONFINED, *options, image).strip())
        return self.names[-1]

    def command(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs the image's own command in a container."""
        command = [self.podman, "exec", name, "/usr/bin/forebay", *words]
        return subprocess.run(command, capture_output=True, text=True)

    def ended(self, name: str) -> str:
        """Waits for the end of a container, and returns its log."""
        run(self.podman, "wait", name, timeout=120)
        done = subprocess.run([self.podman, "logs", name], capture_output=True, text=True)
        return done.stdout + done.stderr

    def ready(self, name: str) -> None:
        """Waits until the daemon of a container answers."""
        answer = self.command(name, "status", "--wait=120s")
        logs = subprocess.run([self.podman, "logs", name], capture_output=True, text=True)
        assert answer.returncode == 0, f"{answer.stderr}{logs.stdout}{logs.stderr}"


@pytest.fixture
def containers(runs: Path) -> Iterator[Containers]:
    started = Containers(runs)
    yield started
    for name in started.names:
        subprocess.run([runs, "rm", "-f", "-t", "1", "-v", name], capture_output=True)


@pytest.fixture
def mounted(binary: Path, tmp_path: Path) -> tuple[str, ...]:
    """The options that give a daemon its configuration and twelve pictures."""
    run(binary, "sample", tmp_path / "data", "--count", "12", "--classes", "3")
    (tmp_path / "forebay.toml").write_text(CONFIGURATION)
    run("chmod", "-R", "a+rX", tmp_path)
    return ("-v", f"{tmp_path}/data:/data:ro", "-v", f"{tmp_path}/forebay.toml:/etc/forebay/forebay.toml:ro")


@pytest.fixture
def volume(tmp_path: Path) -> Callable[[str], Path]:
    """A folder like an emptyDir of Kubernetes: it belongs to root, and everybody may write in it."""

    def folder(name: str) -> Path:
        path = tmp_path / name
        path.mkdir()
        path.chmod(0o777)
        return path

    return folder


def test_the_same_input_makes_the_same_image(images: Path, binary: Path, notices: dict[str, str], tmp_path: Path):
    run(SCRIPTS / "image.sh", binary, tmp_path, **notices)
    # In Docker's format, buildah writes the number of its container.
    (again,) = tmp_path.glob("*.oci.tar")
    first = hashlib.sha256((images / again.name).read_bytes()).hexdigest()
    assert hashlib.sha256(again.read_bytes()).hexdigest() == first


def test_the_image_has_the_daemon_and_no_shell_and_is_small(images: Path, binary: Path):
    files = files_of(images, "forebay")
    programs = [name for name, member in files.items() if member.mode & 0o111 and ".so" not in name]
    assert programs == ["usr/bin/forebay"]
    assert all(member.mode & 0o6000 == 0 for member in files.values())
    assert "etc/ssl/certs/ca-certificates.crt" in files
    copyrights = [name for name in files if name.startswith("usr/share/doc/") and name.endswith("copyright")]
    for package in ("libc6/", "ca-certificates/", "gcc-"):
        assert any(name.startswith(f"usr/share/doc/{package}") for name in copyrights), copyrights
    (archive,) = images.glob("forebay-[0-9]*.oci.tar")
    assert archive.stat().st_size - binary.stat().st_size < MOST_BESIDE_THE_BINARY


def test_the_image_says_what_it_is_and_runs_as_a_user_without_rights(images: Path, podman: Path):
    (archive,) = images.glob("forebay-[0-9]*.docker.tar")
    with tarfile.open(archive) as file:
        manifest = json.load(file.extractfile("manifest.json"))[0]
        config = json.load(file.extractfile(manifest["Config"]))["config"]
    assert config["User"] == "10001:10001"
    assert config["Healthcheck"]["Test"] == ["CMD", "/usr/bin/forebay", "status", "--timeout", "5s"]
    assert config["Labels"]["org.opencontainers.image.licenses"] == "MIT OR Apache-2.0"
    facts = json.loads(run(podman, "image", "inspect", loaded(images, "forebay")))[0]
    assert facts["Annotations"]["org.opencontainers.image.title"] == "Forebay"
    assert facts["Annotations"]["org.opencontainers.image.version"]


def test_daemon_and_trainer_in_two_containers_with_their_own_process_numbers(
    containers: Containers, images: Path, mounted: tuple[str, ...], volume: Callable[[str], Path], podman: Path
):
    sockets, state = volume("sockets"), volume("state")
    folders = ("-v", f"{sockets}:/run")
    daemon = containers.start(loaded(images, "forebay"), *folders, "-v", f"{state}:/var/lib", *mounted)
    containers.ready(daemon)
    python = ("--entrypoint", "/usr/bin/python3", loaded(images, "forebay-python"), "-c", TRAINER)
    said = run(podman, "run", "--rm", *CONFINED, *folders, *python, timeout=300)
    assert said.split() == ["True", "process", "1", "user", "10001"]
    # The health check's own command.
    assert containers.command(daemon, "status", "--timeout", "5s").returncode == 0
    audit = containers.command(daemon, "audit", "train")
    assert audit.returncode == 0, audit.stderr
    assert audit.stdout.count("12 of 12 records accounted for (12 delivered)") == 2
    # Others get nothing: what the daemon made in the volumes is closed to them.
    for made in (sockets / "forebay", state / "forebay"):
        assert made.stat().st_mode & 0o007 == 0
        assert made.stat().st_uid == 10001


def test_volumes_of_their_own_take_the_daemons_user(containers: Containers, images: Path, mounted: tuple[str, ...]):
    named = [f"forebay-test-{index}" for index in range(2)]
    options = ("-v", f"{named[0]}:/run/forebay", "-v", f"{named[1]}:/var/lib/forebay")
    try:
        daemon = containers.start(loaded(images, "forebay"), *options, *mounted)
        containers.ready(daemon)
    finally:
        for name in containers.names:
            subprocess.run([containers.podman, "rm", "-f", "-t", "1", name], capture_output=True)
        subprocess.run([containers.podman, "volume", "rm", "-f", *named], capture_output=True)


def test_a_folder_of_root_that_is_open_to_all_is_refused_with_what_to_do(
    containers: Containers, images: Path, mounted: tuple[str, ...], volume: Callable[[str], Path]
):
    options = ("-v", f"{volume('sockets')}:/run/forebay", "-v", f"{volume('state')}:/var/lib")
    log = containers.ended(containers.start(loaded(images, "forebay"), *options, *mounted))
    assert '"/run/forebay" cannot be used: it belongs to user 0, and the daemon runs as user 10001' in log
    assert "such as /run/forebay/forebay if the daemon may make that" in log
