"""Deaths of the torture test's daemon while no trainer consumes, deaths of its children, and the end of its log."""

import os
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress

import forebay
from processes import Daemon, children, wait_until

from torture.waits import Trouble

# The command that a daemon runs to make a suspect in a child process (rule 9).
SUSPECTS = "make-suspects"
# Seconds until a suspect is made again whose child was killed, and until its picture is there.
MADE_AGAIN = 2


class LoggingDaemon(Daemon):
    """A daemon whose log is a pipe. In each of its lives, another process reads the pipe until it is told not to."""

    reader, is_log_read = None, False

    def start(self):
        """Runs the daemon, and what reads its log."""
        self.end_log()
        # What is read is part of the test's output.
        self.reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=2)
        with self.reader.stdin as log:
            super().start(log)
        self.is_log_read = True

    def end_log(self):
        """What a dead daemon has written is read."""
        if self.is_log_read:
            self.reader.wait()
        else:
            self.close_log()

    def close_log(self):
        """Nobody has the other end of the pipe from now on."""
        self.is_log_read = False
        if self.reader is not None:
            self.reader.kill()
            self.reader.wait()

    def leave_log(self):
        """Nobody reads the pipe from now on, so it is full after a while."""
        self.is_log_read = False
        self.reader.send_signal(signal.SIGSTOP)

    def suspects_made(self):
        """Its children that make suspects."""
        return [child for child, command in children(self.process.pid) if SUSPECTS in command]


class Deaths:
    """What can happen to the daemon of a world beside a single death."""

    def __init__(self, world):
        self.world = world

    def possible(self):
        """What can happen now, with weights."""
        daemon = self.world.daemon
        possible = {("daemon killed several times, and no trainer consumed", self.kill_several_times): 2}
        if daemon.is_log_read:
            possible["log of the daemon closed", daemon.close_log] = 2
            possible["log of the daemon left unread", daemon.leave_log] = 2
        if daemon.suspects_made():
            possible["child of the daemon killed", self.kill_child] = 8
        return possible

    def kill_several_times(self):
        """The daemon crashes several times in a row, each time while it has batches, or has begun to make some."""
        with self.world.trouble(), self.world.trainers.all_paused():
            for _ in range(self.world.chance.randrange(2, 5)):
                with self.idle_trainers():
                    if self.world.chance.random() < 0.5:
                        wait_until(self.has_batches)
                    else:
                        time.sleep(self.world.chance.uniform(0, 0.2))
                    self.world.daemon.kill()
                self.world.start_daemon()

    @contextmanager
    def idle_trainers(self):
        """A trainer for each stream that takes no batch. It is there until the daemon is killed."""
        with ExitStack() as loaders:
            for stream in self.world.streams:
                # The place may be that of a trainer that is stopped, and that the daemon still knows.
                with suppress(forebay.AttachError):
                    loaders.enter_context(forebay.Loader(f"stream:{stream}", socket=self.world.socket))
            yield

    def has_batches(self):
        """Whether each stream of the daemon has a batch that is ready, or with a trainer."""
        status = self.world.status()
        slots = [stream["slots"] for stream in status["streams"]]
        return not status["closed"] and all(each["ready"] + each["held"] for each in slots)

    def kill_child(self):
        """A child that makes suspects is killed, as the system does if memory is short. Its record is not to blame."""
        now = time.monotonic()
        # It may have ended by itself meanwhile.
        if made := self.world.daemon.suspects_made():
            with suppress(ProcessLookupError):
                os.kill(self.world.chance.choice(made), signal.SIGKILL)
        self.world.troubles.append(Trouble(now, now + MADE_AGAIN))
