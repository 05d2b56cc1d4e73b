"""The torture test's daemon and trainers, and everything that can happen to them."""

import json
import os
import random
import resource
import signal
import subprocess
import time
from collections import Counter
from contextlib import contextmanager, suppress

import forebay
from processes import PATIENCE as LIMIT
from processes import wait_until

from torture.deaths import Deaths, LoggingDaemon
from torture.inquiry import Inquiry
from torture.programs import commands
from torture.ranks import RANKS, Ranks
from torture.remains import differences, holdings, known, rings
from torture.side_processes import SideProcesses
from torture.stranger import Strangers
from torture.streams import configure
from torture.trainers import ALONE, EACH, SPLIT, Post, Trainers
from torture.waits import Trouble

# Records that are good. Most streams have one more, which is bad.
RECORDS = 180
# Trainers at once, in a short torture and in one of at least so many seconds. Only a long one judges how long trainers
# wait: a machine that runs other tests may be slow.
FEW, MANY, LONG = 14, 32, 300
# Seconds for which nobody may wait if nothing explains it.
PATIENCE = 2
# Seconds of a stop that outlasts every lease. A lease lasts 30 s.
BEYOND_THE_LEASE = 34
# Seconds after a daemon's start in which groups hand in what they have had. Their epoch does not end before (rule 44).
HANDING_IN = 2
DISK = 8 << 20
# Of so many seconds, a slow reader comes once.
SLOW_READERS = 60
# What its error must say, beside its group and its process.
OF_AN_EVICTION = ("without consuming a batch", 'slow = "evict"', "attach again")


class World:
    """A daemon with five streams.

    Trainers share two of them. The only trainer of the third loads old states. The groups of the fourth each get every
    batch, and one that makes the others wait for too long is ended. Now and then, two ranks read the fifth.
    """

    def __init__(self, binary, folder, seed):
        self.folder, self.chance = folder, random.Random(seed)
        self.happened = Counter()
        self.troubles = []
        self.disk = folder / "disk"
        # The reason why there is no small disk, or nothing if there is one.
        self.no_disk = "it was not made"
        self.daemon = self.before = None
        # When the daemon was started again.
        self.starts = []
        self.is_long = False
        sockets = folder / "sockets"
        sockets.mkdir(mode=0o700)
        self.socket = sockets / "forebay.sock"
        self.strangers = Strangers(self.socket, self.chance)
        self.slow_readers = SideProcesses(folder, self.socket, 1)
        self.hostile = SideProcesses(folder, self.socket, 3)
        self.ranks = Ranks(folder, self.socket, self.chance, self.kill_daemon)
        self.streams = (ALONE, *SPLIT, EACH, RANKS)
        self.deaths = Deaths(self)
        self.trainers = Trainers(*commands(folder), folder, self.socket, self.chance)
        self.pictures = str(folder / "pictures")
        config = configure(folder, sockets, self.disk / "state", RECORDS, MANY)
        self.command = [binary, "serve", "--config", str(config)]

    def begin(self):
        """Starts the daemon and the trainers."""
        self.disk.mkdir()
        self.no_disk = mount(self.disk)
        self.daemon = LoggingDaemon(self.command, self.socket)
        for stream in self.streams:
            # A stream makes its ring for its first trainer.
            forebay.Loader(f"stream:{stream}", socket=self.socket).close()
        assert not [*self.left_open()]
        # Nobody takes batches, so its readers stop after a while, with no picture open.
        wait_until(lambda: not any(self.pictures in what for what in holdings(self.daemon.process.pid)))
        self.before = holdings(self.daemon.process.pid)
        self.trainers.begin()

    def torture(self, seconds):
        """Lets random things happen for that long."""
        began = time.monotonic()
        self.is_long = seconds >= LONG
        planned = [(began + at, *what) for at, *what in self.planned(seconds)]
        while (now := time.monotonic()) < began + seconds:
            if planned and now >= planned[0][0]:
                _, name, act = planned.pop(0)
                self.happen(name, act)
            else:
                self.let_happen(self.possible() | self.possible_to_the_daemon())

    def planned(self, seconds):
        """What is to happen at its time, in seconds from the start, whatever else does."""
        times = max(1, round(seconds / SLOW_READERS))
        # Each takes several seconds in which the daemon is left alone.
        planned = [((part + 0.5) / times * seconds, "slow reader", self.read_slowly) for part in range(times)]
        if self.is_long:
            # A long stop takes a twentieth of ten minutes.
            stop = ("the daemon stopped beyond its leases", lambda: self.pause_daemon(BEYOND_THE_LEASE))
            planned += [(part * seconds, *stop) for part in (0.25, 0.5, 0.75)]
        return sorted(planned, key=lambda each: each[0])

    def let_happen(self, possible):
        """Lets something of this happen, and then nothing for a moment."""
        what, weight = zip(*possible.items())
        name, act = self.chance.choices(what, weight)[0]
        self.happen(name, act)
        time.sleep(self.chance.uniform(0, 0.4))

    def possible_to_the_daemon(self):
        """What can happen to the daemon and its disk, with weights."""
        possible = {
            ("daemon killed", self.kill_daemon): 3,
            ("daemon ended", self.end_daemon): 2,
            ("daemon stopped", lambda: self.pause_daemon(self.chance.uniform(0, 1))): 2,
            ("trainer and daemon killed", self.kill_both): 2,
            ("no descriptors", self.starve_daemon): 2,
            ("two ranks loaded a state", self.ranks.load_together): 4,
            **self.deaths.possible(),
        }
        if not self.no_disk:
            possible["no room on the disk", self.fill_disk] = 2
        return possible

    def possible(self):
        """What else can happen, with weights."""
        possible = {
            ("trainer killed", self.kill_trainer): 6,
            ("trainer ended", self.end_trainer): 3,
            ("trainer stopped", self.pause_trainer): 2,
            ("silent stranger", self.strangers.be_silent): 2,
            ("nonsense of a stranger", self.strangers.say_nonsense): 3,
            ("descriptors of a stranger", self.strangers.pass_descriptors): 2,
            ("hostile trainer", self.be_hostile): 3,
        }
        if len(self.trainers.processes) < (MANY if self.is_long else FEW):
            possible["trainer came", self.trainers.visit] = 5
        if self.trainers.transient():
            possible["trainer left", self.trainers.leave] = 2
        return possible

    def happen(self, name, act):
        """Does it, counts it, and writes down when it began."""
        self.trainers.check()
        self.happened[name] += 1
        with (self.folder / "happened").open("a") as file:
            print(f"{time.monotonic():.3f} {name}", file=file)
        act()

    @contextmanager
    def trouble(self, stream=""):
        """Notes the time in which trainers may wait for what happens."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.troubles.append(Trouble(began, time.monotonic(), stream))

    def kill_trainer(self, meanwhile=lambda: None):
        """A trainer crashes. Another one takes its place."""
        post = self.trainers.mortal()
        self.trainers.kill(post)
        meanwhile()
        self.trainers.start(post)

    def end_trainer(self):
        """A service manager ends a trainer. Another one takes its place."""
        post = self.trainers.mortal()
        self.trainers.end(post)
        self.trainers.start(post)

    def pause_trainer(self):
        """A trainer stops, as in a debugger. What it holds keeps the others of its stream from the next epoch."""
        post, process = self.trainers.anyone()
        with self.trouble(post.stream), paused(process):
            time.sleep(self.chance.uniform(0, 1))

    def read_slowly(self):
        """A trainer holds a batch until its group is ended, and keeps it then. Meanwhile the daemon lives."""
        group = self.chance.choice(["", "slow"])
        with self.trouble(EACH):
            reader = self.slow_readers.come("slow_reader.py", EACH, self.chance.randrange(1 << 30), group)
            pid = int(reader.wait_for("holds"))
            until = time.monotonic() + LIMIT
            while self.has_trainer(EACH, pid):
                assert time.monotonic() < until, f"the slow reader's group {group!r} was not ended"
                self.let_happen(self.possible())
            reader.tell()
            reader.wait_for("back")
        words = " ".join(reader.lines("evicted"))
        for part in (f'group "{group}"', f"process {pid}", *OF_AN_EVICTION):
            assert part in words, f"the slow reader was told {words!r}, without {part!r}"

    def be_hostile(self):
        """A trainer does what none may. The daemon lives until it has seen what came of that."""
        stream = self.chance.choice([*SPLIT, EACH])
        group = self.trainers.group() if stream == EACH else ""
        with self.trouble(stream):
            process = self.hostile.come("hostile.py", stream, self.chance.randrange(1 << 30), group)
            # What it consumes counts.
            self.trainers.posts.append(Post(stream, "hostile", group, process.journal))
            process.wait_for("expelled")

    def has_trainer(self, stream, pid):
        """Whether a process is in a group of a stream."""
        streams = {each["name"]: each for each in self.status()["streams"]}
        return any(pid in group["pids"] for group in streams[stream]["groups"])

    def status(self):
        """What the daemon says of itself."""
        return json.loads(self.daemon.says("status", "--json"))

    def is_open(self):
        """Whether the daemon has opened all of its streams."""
        return not self.status()["closed"]

    def kill_daemon(self, meanwhile=lambda: None):
        """The daemon crashes."""
        with self.trouble():
            self.daemon.kill()
            meanwhile()
            self.start_daemon()

    def start_daemon(self):
        """Starts the daemon again."""
        self.daemon.start()
        now = time.monotonic()
        self.starts.append(now)
        self.troubles.append(Trouble(now, now + HANDING_IN, EACH))

    def kill_both(self):
        """The daemon crashes, and a trainer before it is there again. Another one begins when it is."""
        post = self.trainers.mortal()
        self.kill_daemon(lambda: self.trainers.kill(post))
        self.trainers.start(post)

    def end_daemon(self):
        """A service manager ends the daemon, and starts it again."""
        with self.trouble():
            self.daemon.end()
            assert self.daemon.process.returncode == 0, "the daemon did not end well"
            self.start_daemon()

    def pause_daemon(self, seconds):
        """The daemon stops, as on a suspended machine."""
        with self.trouble(), paused(self.daemon.process):
            time.sleep(seconds)

    def starve_daemon(self):
        """The daemon gets no more descriptors for a while. A trainer may start meanwhile."""
        pid = self.daemon.process.pid
        _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = len(os.listdir(f"/proc/{pid}/fd"))
        with self.trouble():
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + self.chance.randrange(3), most))
            self.wait_or_kill_a_trainer()
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))

    def fill_disk(self):
        """The ledger's disk is full for a while."""
        ballast = self.disk / "ballast"
        with self.trouble():
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
        """Lets the trainers finish their epoch. Gives what is wrong, and figures."""
        self.trainers.check()
        inquiry = Inquiry(self.command[0], self.socket, self.trainers, RECORDS)
        wait_until(self.is_open)
        # A group is told what it has missed some time after its daemon's start, while it is there.
        with suppress(AssertionError):
            wait_until(lambda: not inquiry.groups()[0], seconds=30)
        of_trainers = self.trainers.left_behind(rings(self.daemon.process.pid), seconds=30)
        outlived = self.trainers.outlived(self.starts)
        self.trainers.finish()
        self.strangers.close()
        for processes in (self.slow_readers, self.hostile):
            processes.finish()
        findings, figures = inquiry.streams()
        further, of_groups = inquiry.groups()
        skipped, in_order = inquiry.nameless()
        longest = inquiry.longest_wait(self.troubles)
        figures += of_groups + in_order
        figures["ms: the longest wait that nothing explains"] = round(1000 * longest.seconds)
        if self.is_long and longest.seconds > PATIENCE:
            further.append(f"{longest.of} waited {longest.seconds:.3f} s, which nothing explains")
        figures["slow readers evicted"] = self.slow_readers.count("evicted")
        figures["daemons that one trainer outlived"] = max(outlived)
        of_guests = [*self.slow_readers.findings(), *self.hostile.findings(), *self.ranks.findings(RECORDS)]
        return [*findings, *further, *skipped, *of_guests, *of_trainers, *self.left_over()], figures

    def left_over(self):
        """What the daemon has that it had not before there were trainers, after all of them have left."""
        yield from self.left_open()

        def more():
            return [*differences(self.before, holdings(self.daemon.process.pid))]

        with suppress(AssertionError):
            # A child that makes suspects waits for more of them for 10 s.
            wait_until(lambda: not more(), seconds=30)
        yield from more()

    def left_open(self):
        """Connections and processes that the daemon still knows after all trainers have left."""

        def counts():
            return known(self.daemon.process.pid, self.socket)

        with suppress(AssertionError):
            wait_until(lambda: not any(counts()), seconds=10)
        for what, count in zip(("connections of trainers", "processes of trainers"), counts()):
            if count:
                yield f"{count} {what} are left in the daemon"

    def close(self):
        """Ends all processes, and unmounts the disk."""
        self.strangers.close()
        self.slow_readers.close()
        self.hostile.close()
        self.ranks.close()
        self.trainers.close()
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.end_log()
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
