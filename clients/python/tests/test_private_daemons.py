"""What commands and metrics show of the private daemons of Loaders, and to whom."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest
from processes import private_daemons, wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# A trainer that has some batches in its hands and waits for orders.
TRAINER = """
loaders = [
    forebay.Loader(source, batch_size=2, size=8, prefetch_queue_depth=2, epochs=None) for source in sources.split("|")
]
for loader in loaders:
    # The second acknowledges the first.
    loader.next(), loader.next()
print("ready", flush=True)
sys.stdin.readline()
for loader in loaders:
    loader.close()
"""


@pytest.fixture(autouse=True)
def runtime(monkeypatch):
    """A runtime folder of this test alone."""
    # Not one of pytest: those are closed to other users, whatever a test does.
    with tempfile.TemporaryDirectory() as around:
        folder = Path(around) / "runtime"
        folder.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield folder


@pytest.fixture
def begin(trainer):
    """Starts a trainer process with Loaders of these folders."""

    def start(*sources):
        process = trainer(TRAINER, sources="|".join(map(str, sources)))
        assert process.stdout.readline() == "ready\n"
        return process

    return start


def ends(process):
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.wait() == 0


@pytest.fixture
def ask(binary):
    def run(*arguments, env=None):
        return subprocess.run([binary, *arguments], capture_output=True, text=True, env=env)

    return run


def of_processes(result, *processes):
    """The private daemons of these processes that were found. Other tests have daemons at the same time."""
    pids = [process.pid for process in processes]
    return [each for each in as_json(result)["private"] if each["loader_pid"] in pids]


def as_json(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def scraped(path):
    """What an endpoint for metrics answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: forebay\r\n\r\n")
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer.decode()


def test_status_and_top_show_the_private_daemons_of_all_processes_of_the_user(ask, begin, pictures):
    first, second = begin(pictures(7)), begin(pictures(9, name="others"))
    found = of_processes(ask("status", "--json"), first, second)
    assert {each["loader_pid"]: each["streams"][0]["records"] for each in found} == {first.pid: 7, second.pid: 9}
    assert all(
        each["pid"] in private_daemons(each["loader_pid"]) and each["ready"] and each["socket"] is None
        for each in found
    )
    shown = ask("status").stdout
    for process in (first, second):
        assert f"private daemon of the Loaders of process {process.pid}\n" in shown
        assert f"process {process.pid} of user" in shown, "the trainer itself"
    top = ask("top", "--once", "--every", "10ms")
    for process in (first, second):
        assert f"private daemon of the Loaders of process {process.pid}\n" in top.stdout, top.stdout + top.stderr
    assert len(of_processes(ask("top", "--once", "--every", "10ms", "--json"), first, second)) == 2


def test_a_daemon_is_found_from_another_runtime_folder_and_without_one(ask, begin, pictures, tmp_path):
    process = begin(pictures(7))
    plain = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    for env in (plain, {**plain, "XDG_RUNTIME_DIR": str(tmp_path)}, {}):
        (found,) = of_processes(ask("status", "--json", env=env), process)
        assert (found["streams"][0]["records"], found["ready"]) == (7, True)
        assert f"private daemon of the Loaders of process {process.pid}\n" in ask("status", env=env).stdout
        assert as_json(ask("status", "--json", "--pid", str(process.pid), env=env))["loader_pid"] == process.pid
        audit = as_json(ask("audit", "--json", "--pid", str(process.pid), env=env))
        assert audit["streams"][0]["epochs"][0]["records"] == 7
    ends(process)
    gone = ask("status", "--pid", str(process.pid), env=plain)
    assert gone.returncode == 1
    assert f"No private daemon of process {process.pid} runs" in gone.stderr


def test_a_daemon_whose_runtime_folder_cannot_be_used_is_found_too(ask, begin, pictures, runtime, monkeypatch):
    # As after `su`, or with a path that is too long for a socket.
    for unusable in ("exposed", "long" * 30):
        folder = runtime / unusable
        (folder / "forebay").mkdir(parents=True)
        (folder / "forebay").chmod(0o777)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        process = begin(pictures(5, name=unusable[:7]))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        assert len(of_processes(ask("status", "--json"), process)) == 1
        assert not (folder / "forebay" / "private").exists()
        ends(process)


def test_the_nearest_private_daemon_is_meant_if_others_are_elsewhere(ask, begin, pictures, runtime, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / "elsewhere"))
    begin(pictures(7))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    begin(pictures(9, name="others"))
    assert as_json(ask("audit", "--json"))["streams"][0]["epochs"][0]["records"] == 9


def test_one_of_them_is_chosen_by_the_process_of_the_loader_or_its_own(ask, begin, pictures):
    first, second = begin(pictures(7)), begin(pictures(9, name="others"))
    of_second = as_json(ask("status", "--json", "--pid", str(second.pid)))
    assert (of_second["loader_pid"], of_second["streams"][0]["records"]) == (second.pid, 9)
    assert as_json(ask("status", "--json", "--pid", str(of_second["pid"])))["pid"] == of_second["pid"]
    assert as_json(ask("audit", "--json", "--pid", str(first.pid)))["streams"][0]["epochs"][0]["records"] == 7
    several = ask("audit")
    assert several.returncode == 1
    assert f"{first.pid} (daemon " in several.stderr
    assert "--pid" in several.stderr
    missing = ask("status", "--pid", str(os.getpid()))
    assert missing.returncode == 1
    assert f"No private daemon of process {os.getpid()} runs" in missing.stderr


def test_the_only_private_daemon_is_meant_where_no_service_runs(ask, begin, pictures):
    process = begin(pictures(7))
    assert as_json(ask("audit", "--json"))["streams"][0]["epochs"][0]["records"] == 7
    assert ask("status", "--quarantine").returncode == 0
    refused = ask("reload")
    assert refused.returncode == 1
    assert "private daemon of a Loader" in refused.stderr
    ends(process)


def test_a_private_daemon_that_ends_or_is_killed_is_not_shown_any_more(ask, begin, pictures, runtime):
    ended, killed = begin(pictures(7)), begin(pictures(9, name="others"))
    ends(ended)
    (daemon,) = private_daemons(killed.pid)
    killed.kill()
    killed.wait()
    os.kill(daemon, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{daemon}"))
    gone = ask("status", "--json")
    if gone.returncode == 0:
        assert of_processes(gone, ended, killed) == []
    else:
        assert "No daemon answers" in gone.stderr
    folder = runtime / "forebay" / "private"
    assert not folder.exists() or list(folder.iterdir()) == []


def test_a_private_daemon_that_ends_while_it_is_asked_is_not_shown_either(ask, begin, pictures, runtime):
    folder = runtime / "forebay" / "private"
    folder.mkdir(parents=True, mode=0o700)

    def ends_when_asked(name):
        """Listens as a daemon does, and is gone when the command that has found it talks to it."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(folder / name))
        listener.listen()

        def serve():
            with listener:
                # It is looked for first.
                listener.accept()[0].close()
                connection, _ = listener.accept()
            with connection:
                connection.recv(65536)

        thread = threading.Thread(target=serve)
        thread.start()
        return thread

    thread = ends_when_asked("4242-1.sock")
    alone = ask("audit", "--pid", "4242")
    thread.join()
    assert (alone.returncode, alone.stdout) == (1, "")
    assert alone.stderr.startswith("forebay: No daemon answers any more: it ended while it was asked (")
    process = begin(pictures(7))
    for name, command in (("4242-2.sock", ["status"]), ("4242-3.sock", ["top", "--once", "--every", "10ms"])):
        thread = ends_when_asked(name)
        shown = ask(*command)
        thread.join()
        assert shown.returncode == 0, shown.stderr
        assert f"private daemon of the Loaders of process {process.pid}\n" in shown.stdout
        assert "4242" not in shown.stdout


def test_other_users_get_nothing_of_it(begin, binary, pictures, runtime):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user")
    begin(pictures(7))
    folder = runtime / "forebay" / "private"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.sock")} == {0o600}
    program = runtime.parent / "program"
    shutil.copy(binary, program)
    program.chmod(0o755)
    # Everything around it is open: only its own folder keeps others out.
    for above in (runtime / "forebay", runtime, runtime.parent):
        above.chmod(0o711)
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", str(program), "status"]
    result = subprocess.run(other, capture_output=True, text=True, env={"XDG_RUNTIME_DIR": str(runtime)})
    assert result.returncode == 1
    assert "private" not in result.stdout
    # Nor can another user add a daemon of its own to those that are shown.
    folder = runtime.parent / "hostile" / "private"
    folder.mkdir(parents=True)
    for owned in (folder.parent, folder):
        os.chown(owned, 65534, 65534)
    hostile = textwrap.dedent(f"""
    import socket, sys
    listener = socket.socket(socket.AF_UNIX)
    listener.bind({str(folder / "4242-4343.sock")!r})
    listener.listen()
    print("listens", flush=True)
    sys.stdin.readline()
    """)
    command = [*other[:5], sys.executable, "-c", hostile]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={}) as process:
        if process.stdout.readline() != "listens\n":
            pytest.skip("the other user may not run this interpreter")
        assert "4242" not in subprocess.run([binary, "status"], capture_output=True, text=True).stdout
        process.stdin.close()


def test_metrics_of_a_private_daemon_count_each_stream_for_itself(ask, begin, pictures, runtime):
    process = begin(pictures(4), pictures(40, name="others"))
    (endpoint,) = (runtime / "forebay" / "private").glob(f"{process.pid}-*.metrics")
    (found,) = of_processes(ask("status", "--json"), process)
    names = {each["records"]: each["name"] for each in found["streams"]}

    def counts_agree():
        # Streams are read one after the other, and decode meanwhile until their rings are full: only then are all
        # values of one moment.
        text = scraped(endpoint)
        decoded = dict(re.findall(r'forebay_stage_items_total\{stage="decode",stream="([^"]+)"\} (\d+)', text))
        batches = dict(re.findall(r'forebay_batches_total\{stream="([^"]+)"\} (\d+)', text))
        assert set(decoded) == set(names.values()) == set(batches)
        # A ring has at most 2 + 2 x 2 slots of 2 pictures, and the next batch may be on its way.
        each_for_itself = all(
            int(batches[name]) <= int(decoded[name]) <= 2 * (int(batches[name]) + 2) for name in names.values()
        )
        total = sum(int(count) for count in re.findall(r"forebay_pictures_decoded_total\{[^}]*\} (\d+)", text))
        # All streams together decode what the daemon does.
        return each_for_itself and total <= sum(map(int, decoded.values()))

    wait_until(counts_agree)
    text = scraped(endpoint)
    for name in names.values():
        assert re.search(rf'forebay_ring_bytes\{{stream="{re.escape(name)}"\}} [1-9]', text)
        assert f'forebay_trainer_wait_seconds_total{{stream="{name}"}}' in text
