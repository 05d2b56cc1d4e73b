"""Daemons that tests start, kill and look for."""

import itertools
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

# How long anything may take before the test has failed.
PATIENCE = 60


class Daemon:
    """A `forebay serve` that can be killed and started again."""

    def __init__(self, command, socket):
        self.command = command
        self.socket = Path(socket)
        self.process = None
        self.start()

    def start(self, log=None):
        """Runs it and waits until its socket answers. Its log is this test's output, or the given file."""
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stderr=log)
        wait_until(lambda: answers(self.socket) or self.process.poll() is not None)
        assert self.process.poll() is None, "forebay serve ended at its start"

    def stream(self):
        """The status of its only stream."""
        (stream,) = json.loads(self.says("status", "--json"))["streams"]
        return stream

    def says(self, *words):
        """What a command of `forebay` says of it."""
        command = [self.command[0], *words, "--socket-dir", str(self.socket.parent)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def kill(self):
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()

    def end(self):
        """Ends it as a service manager would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            finally:
                self.process.kill()


def answers(path):
    """Whether a process listens on a socket of packets."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        return probe.connect_ex(os.fspath(path)) == 0


def wait_until(condition, seconds=PATIENCE):
    """Waits until another process has done something."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def free_port():
    """A port at which nobody listens, and which the system gives to no connection."""
    given = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    end = max(int(given[0]), 20_000)
    # Tests in other processes begin elsewhere.
    ports = (10_000 + number % (end - 10_000) for number in itertools.count(os.getpid() * 97))

    def is_free(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) != 0

    return next(filter(is_free, ports))


def private_daemons(pid=None):
    """Ids of a process's private daemons. The default is this process."""
    return [child for child, command in children(pid or os.getpid()) if "--private" in command]


def children(pid):
    """Ids of a process's children, each with its command."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_text().split("\0")
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == pid:
            found.append((int(entry.name), command))
    return found


def alive(pid):
    """Whether a process runs. A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
