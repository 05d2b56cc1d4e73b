"""Trainers that start before their daemon, and daemons and trainers in namespaces of their own, as in containers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import forebay
import pytest
from processes import Daemon

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

PIDS = ("unshare", "--pid", "--fork", "--kill-child")
USERS = ("unshare", "--user", "--map-root-user")
STRANGER = 41_234


def needs_namespaces(*around):
    """Only root may make them, and not even root inside a chroot or another sandbox."""
    may = os.geteuid() == 0 and all(map(shutil.which, ("unshare", "setpriv")))
    may = may and subprocess.run([*around, "true"], capture_output=True).returncode == 0
    return pytest.mark.skipif(not may, reason=f"this process may not do {' '.join(around)!r}")


@pytest.fixture
def home():
    """A folder that other users may walk through. Those of pytest are closed to them."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        yield Path(folder)


@pytest.fixture
def serve(binary, home, pictures):
    """Starts a service, in namespaces if it is told so, whose group is root's."""
    running = []

    def start(*around, stream_group=None):
        sockets = home / "sockets"
        config = home / "forebay.toml"
        group = "" if stream_group is None else f"unix_group = {stream_group}\n"
        config.write_text(
            f'drain_timeout = "1s"\n[control]\ndir = "{sockets}"\nunix_group = 0\n'
            f'[coordinator]\npath = "{home / "state"}"\n'
            f'[streams.train]\nsource = "{pictures(8)}"\nbatch_size = 4\nsize = 8\n{group}'
        )
        daemon = Daemon([*around, binary, "serve", "--config", str(config)], sockets / "forebay.sock")
        running.append(daemon)
        return daemon

    yield start
    for daemon in running:
        daemon.kill()


def test_a_trainer_that_starts_first_waits_for_its_daemon(serve, home):
    seen = []

    def train():
        with forebay.Loader("stream:train", socket=home / "sockets" / "forebay.sock", wait="10m") as loader:
            seen.append(sum(batch.valid for batch in loader))

    trainer = threading.Thread(target=train)
    trainer.start()
    serve()
    trainer.join()
    assert seen == [8]


@pytest.mark.parametrize("wait", [None, 0])
def test_a_daemon_that_is_not_there_is_an_error_that_advises_to_wait(tmp_path, wait):
    with pytest.raises(forebay.AttachError, match=r"no daemon answers on .*nowhere: .*socket=.*wait=") as raised:
        forebay.Loader("stream:train", socket=tmp_path / "nowhere", wait=wait)
    assert "::" not in str(raised.value), "names of Rust"


@pytest.mark.parametrize(("wait", "told"), [(0.05, "50ms"), ("1ms", "1ms"), ("0.1 s", "100ms")])
def test_a_daemon_that_never_comes_is_an_error_when_the_wait_is_over(tmp_path, wait, told):
    expected = rf"no daemon answers on .*nowhere after a wait of {told}: "
    with pytest.raises(forebay.AttachError, match=expected) as raised:
        forebay.Loader("stream:train", socket=tmp_path / "nowhere", wait=wait)
    assert "wait=" not in str(raised.value), "it has waited"


def test_ctrl_c_and_a_wrong_stream_end_a_wait(serve):
    daemon = serve()
    with pytest.raises(forebay.AttachError, match='there is no stream "other"'):
        forebay.Loader("stream:other", socket=daemon.socket, wait="10m")


@pytest.mark.parametrize("wait", ["soon", "60", "-1s", "1e3s", -1, float("nan"), float("inf"), True, "36501d", [1]])
def test_a_wait_that_is_no_duration_is_refused(wait):
    with pytest.raises(forebay.SettingsError, match=r"wait=.*give seconds from 0, or a text"):
        forebay.Loader("stream:train", socket="/nowhere", wait=wait)


def test_a_path_needs_no_wait(pictures):
    with pytest.raises(forebay.SettingsError, match="give wait= with a stream alone"):
        forebay.Loader(pictures(4), batch_size=2, size=8, wait=1)


def status(binary, daemon, *arguments):
    command = [binary, "status", "--socket-dir", str(daemon.socket.parent), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@needs_namespaces(*PIDS)
def test_a_trainer_of_another_pid_namespace_is_shown_by_its_own_number(binary, serve):
    daemon = serve(*PIDS)
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        loader.next()
        assert f"process {os.getpid()} in a container of its own of user" in status(binary, daemon)
        (trainer,) = json.loads(status(binary, daemon, "--json"))["streams"][0]["trainers"]
        assert (trainer["pid"], trainer["foreign"]) == (os.getpid(), True)


def test_a_trainer_of_the_same_pid_namespace_is_not_called_foreign(binary, serve):
    daemon = serve()
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        loader.next()
        (trainer,) = json.loads(status(binary, daemon, "--json"))["streams"][0]["trainers"]
        assert (trainer["pid"], trainer["foreign"]) == (os.getpid(), False)
        assert "container" not in status(binary, daemon)


@needs_namespaces(*USERS)
@pytest.mark.parametrize(("stream_group", "groups", "is_let_in"), [(None, "0", False), (0, "0", True)])
def test_rule_25_a_user_without_a_number_in_the_daemon_s_namespace_gets_in_by_the_stream_s_group_alone(
    serve, stream_group, groups, is_let_in
):
    # Only root has a number there.
    daemon = serve(*USERS, stream_group=stream_group)
    program = "import forebay, sys; print(sum(b.valid for b in forebay.Loader('stream:train', socket=sys.argv[1])))"
    user = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", f"--groups={groups}", "--"]
    command = [*user, sys.executable, "-c", program, str(daemon.socket)]
    result = subprocess.run(command, capture_output=True, text=True, cwd="/")
    if is_let_in:
        assert result.stdout == "8\n", result.stderr
    else:
        assert re.search(r"not for user 65534 \(a user of another user namespace", result.stderr), result.stderr
