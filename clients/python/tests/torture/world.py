"""The torture test's daemon and trainers, and everything that can happen to them."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import forebay
from processes import Daemon, wait_until

from torture.history import History
from torture.stranger import Strangers

RECORDS, TRAINERS = 90, 3
# Seconds of a stop that outlasts every lease. A lease lasts 30 s.
BEYOND_THE_LEASE = 34
DISK = 8 << 20

CONFIG = """\
drain_timeout = "1s"
[control]
dir = "{sockets}"
[coordinator]
path = "{disk}"
[streams.shared]
source = "{source}"
batch_size = 4
size = 8
shuffle = true
trainers = {trainers}
[streams.alone]
source = "{source}"
batch_size = 4
size = 8
shuffle = true
trainers = 1
[streams.each]
source = "{source}"
batch_size = 4
size = 8
shuffle = true
trainers = 1
mode = "each"
"""
# The groups of the trainers of the last stream. The first one is a group by itself.
GROUPS = ["", "named"]


class World:
    """A daemon with three streams.

    Trainers share one of them. The only trainer of the second loads old states. The groups of the third each get every
    batch.
    """

    def __init__(self, binary, folder, source, seed):
        self.folder, self.chance = folder, random.Random(seed)
        self.happened = Counter()
        self.stop = folder / "stop"
        self.disk = folder / "disk"
        # The reason why there is no small disk, or nothing if there is one.
        self.no_disk = "it was not made"
        self.daemon = None
        self.journals = {
            "alone": [folder / "alone"],
            "shared": [folder / f"shared-{n}" for n in range(TRAINERS)],
            "each": [folder / f"each-{group}" for group in GROUPS],
        }
        self.trainers = {}
        sockets = folder / "sockets"
        sockets.mkdir(mode=0o700)
        self.socket = sockets / "forebay.sock"
        self.strangers = Strangers(self.socket, self.chance)
        config = folder / "forebay.toml"
        config.write_text(CONFIG.format(sockets=sockets, disk=self.disk / "state", source=source, trainers=TRAINERS))
        self.command = [binary, "serve", "--config", str(config)]

    def begin(self):
        """Starts the daemon and the trainers."""
        self.disk.mkdir()
        self.no_disk = mount(self.disk)
        self.daemon = Daemon(self.command, self.socket)
        for stream, journals in self.journals.items():
            for journal in journals:
                self.start(stream, journal)

    def start(self, stream, journal):
        """Starts a trainer, which continues its journal."""
        travels = "travels" if stream == "alone" else "stays"
        group = journal.name.removeprefix("each-") if stream == "each" else ""
        words = (self.socket, stream, journal, self.stop, self.chance.randrange(1 << 30), travels, group)
        with (self.folder / "errors").open("a") as errors:
            command = [sys.executable, Path(__file__).with_name("trainer.py"), *map(str, words)]
            self.trainers[stream, journal] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=errors)

    def torture(self, seconds):
        """Lets random things happen for that long."""
        until = time.monotonic() + seconds
        # A long stop takes a twentieth of ten minutes.
        stops = [until - part * seconds for part in (0.75, 0.5, 0.25)] if seconds >= 300 else []
        while (now := time.monotonic()) < until:
            if stops and now >= stops[0]:
                stops.pop(0)
                self.happen("the daemon stopped beyond its leases", lambda: self.pause_daemon(BEYOND_THE_LEASE))
                continue
            what, weight = zip(*self.possible().items())
            name, act = self.chance.choices(what, weight)[0]
            self.happen(name, act)
            time.sleep(self.chance.uniform(0, 0.4))

    def possible(self):
        """What can happen, with weights."""
        possible = {
            ("trainer killed", self.kill_trainer): 6,
            ("trainer ended", self.end_trainer): 3,
            ("trainer stopped", self.pause_trainer): 2,
            ("daemon killed", self.kill_daemon): 3,
            ("daemon ended", self.end_daemon): 2,
            ("daemon stopped", lambda: self.pause_daemon(self.chance.uniform(0, 1))): 2,
            ("trainer and daemon killed", lambda: (self.kill_daemon(start=False), self.kill_trainer(self.restart))): 2,
            ("no descriptors", self.starve_daemon): 2,
            ("silent stranger", self.strangers.be_silent): 2,
            ("nonsense of a stranger", self.strangers.say_nonsense): 3,
            ("descriptors of a stranger", self.strangers.pass_descriptors): 2,
        }
        if not self.no_disk:
            possible["no room on the disk", self.fill_disk] = 2
        return possible

    def happen(self, name, act):
        """Does it and counts it."""
        self.check_trainers()
        self.happened[name] += 1
        act()

    def check_trainers(self):
        """Fails if a trainer has ended by itself."""
        for (stream, journal), process in self.trainers.items():
            if process.poll() is not None and not self.stop.exists():
                errors = (self.folder / "errors").read_text()
                raise AssertionError(f"{journal.name} of {stream} ended with {process.returncode}:\n{errors}")

    def some_trainer(self):
        """A trainer's key and process."""
        return self.chance.choice(list(self.trainers.items()))

    def kill_trainer(self, meanwhile=lambda: None):
        """A trainer crashes. Another one takes its place."""
        key, process = self.some_trainer()
        process.kill()
        process.wait()
        meanwhile()
        self.start(*key)

    def end_trainer(self):
        """A service manager ends a trainer. Another one takes its place."""
        key, process = self.some_trainer()
        process.terminate()
        assert process.wait(60) in (0, -signal.SIGTERM), "a trainer did not end well"
        self.start(*key)

    def pause_trainer(self):
        """A trainer stops, as in a debugger."""
        _, process = self.some_trainer()
        with paused(process):
            time.sleep(self.chance.uniform(0, 1))

    def kill_daemon(self, *, start=True):
        """The daemon crashes."""
        self.daemon.kill()
        if start:
            self.daemon.start()

    def restart(self):
        """Starts the daemon again, which was killed before."""
        self.daemon.start()

    def end_daemon(self):
        """A service manager ends the daemon, and starts it again."""
        self.daemon.end()
        assert self.daemon.process.returncode == 0, "the daemon did not end well"
        self.daemon.start()

    def pause_daemon(self, seconds):
        """The daemon stops, as on a suspended machine."""
        with paused(self.daemon.process):
            time.sleep(seconds)

    def starve_daemon(self):
        """The daemon gets no more descriptors for a while. A trainer may start meanwhile."""
        pid = self.daemon.process.pid
        _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = len(os.listdir(f"/proc/{pid}/fd"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + self.chance.randrange(3), most))
        self.wait_or_kill_a_trainer()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))

    def fill_disk(self):
        """The ledger's disk is full for a while."""
        ballast = self.disk / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        self.wait_or_kill_a_trainer()
        ballast.unlink()

    def wait_or_kill_a_trainer(self):
        if self.chance.random() < 0.5:
            self.kill_trainer()
        time.sleep(self.chance.uniform(0, 1.5))

    def finish(self):
        """Lets the trainers finish their epoch, and compares their journals with the audits."""
        self.check_trainers()
        # A group is told what it has missed some time after its daemon's start, while it is there.
        with suppress(AssertionError):
            wait_until(lambda: not self.uncovered(), seconds=30)
        self.stop.touch()
        for (stream, journal), process in self.trainers.items():
            code = process.wait(120)
            assert code == 0, f"{journal.name} of {stream}: {code}\n{(self.folder / 'errors').read_text()}"
        self.strangers.close()
        findings, figures = [], Counter()
        for stream, journals in self.journals.items():
            history = History()
            for journal in journals:
                history.read(journal)
            with forebay.Loader(f"stream:{stream}", socket=self.socket) as loader:
                audits = loader.audit()
            figures += history.lines
            figures["epochs"] += sum(audit.complete for audit in audits)
            figures["records"] += sum(sum(seen.values()) for seen in history.run.values())
            if stream != "each":
                figures["records seen again"] += sum(map(history.repetitions, history.tallied))
            for audit in audits:
                figures.update({f"named as {cause}": count for cause, count in audit.repeats.items()})
            findings += [f"{stream}: {finding}" for finding in [*history.missing(audits, RECORDS), *history.wrong()]]
            # Of groups, each sees a record once.
            histories = [History().read(journal) for journal in journals] if stream == "each" else [history]
            findings += [f"{stream}: {finding}" for each in histories for finding in each.unnamed(audits)]
        accounts, complete = self.accounts("named")
        findings += [f"each: {finding}" for finding in self.uncovered()]
        figures["records of the named group"] = sum(account["records"] for account in accounts.values())
        missed = [account["missed"] for account in accounts.values() if account["missed"]]
        figures["records that the named group missed"] = sum(each["records"] for each in missed)
        figures["epochs of groups"] = len(complete)
        return [*findings, *self.left_open()], figures

    def left_open(self):
        """Connections and processes that the daemon still knows after all of them have left."""
        with suppress(AssertionError):
            wait_until(lambda: not any(self.known()), seconds=10)
        for what, count in zip(("connections of trainers", "processes of trainers"), self.known()):
            if count:
                yield f"{count} {what} are left in the daemon"

    def known(self):
        """Connections to the daemon's socket that it has open, and processes that it watches."""
        pid = self.daemon.process.pid
        links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
        sockets = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")}
        rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
        # 03 is connected. Those that the daemon has accepted have its own path.
        connected = [row for row in rows if row[5] == "03" and row[-1] == str(self.socket) and row[6] in sockets]
        return len(connected), sum("pidfd" in link for link in links)

    def accounts(self, group):
        """What the audit says of a group, by epoch, and the epochs that add up."""
        command = [self.command[0], "audit", "each", "--json", "--socket-dir", self.socket.parent]
        (stream,) = json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)["streams"]
        accounts = {
            epoch["epoch"]: account
            for epoch in stream["epochs"]
            for account in epoch["groups"]
            if account["group"] == group
        }
        return accounts, [epoch["epoch"] for epoch in stream["epochs"] if epoch["verdict"] == "adds_up"]

    def uncovered(self):
        """Differences between the journal of the named group and the audit."""
        accounts, complete = self.accounts("named")
        journal = self.journals["each"][GROUPS.index("named")]
        return [*History().read(journal).uncovered(accounts, complete, RECORDS)]

    def close(self):
        """Ends all processes, and unmounts the disk."""
        self.strangers.close()
        for process in self.trainers.values():
            process.kill()
            process.wait()
        if self.daemon is not None:
            self.daemon.kill()
        if not self.no_disk:
            subprocess.run(["umount", "--lazy", self.disk], check=True)


@contextmanager
def paused(process):
    """Stops a process inside a `with`."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def mount(folder):
    """Mounts a small disk on a folder. Gives the reason if that is not allowed, else nothing."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "forebay-torture", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""
