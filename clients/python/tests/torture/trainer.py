"""A trainer of the torture test. It keeps a journal of what it consumes, interrupts itself, and loads earlier states.

Its journal has a line for each batch (`got EPOCH RECORDS`), each state that was taken (`state ID EPOCH`) and each that
was loaded (`loading ID`, and `loaded ID` when it is done). `rejected EPOCH RECORDS` is a batch that it gave back, and
`wrong EPOCH RECORDS` one whose pixels were not those of its records. Before each batch, `of DAEMON NUMBER` has the
incarnation of the daemon that made it, and its number, or `-` where the language does not tell it. `waited FROM TO` is
a time in which it had no batch, from its first call of `next()` to the one that gave something, and `attached AT` is
the end of an attachment: in seconds of CLOCK_MONOTONIC. A line is one write, so that a kill leaves whole lines. The
trainers in C and Rust keep the same journal.
"""

import contextlib
import ctypes
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import forebay
from payload import is_of

PACKAGE = str(Path(forebay.__file__).parent)
KEPT_STATES = 5
# Seconds. Waits that are shorter are of no interest.
SHORT = 0.2


class InterruptionError(Exception):
    """Raised in the middle of `next()`."""


class Stop(BaseException):
    """Raised in the middle of `next()` by SIGTERM."""


class Trainer:
    """The only Loader of this process, and its journal."""

    def __init__(self, socket, stream, journal, stop, seed, group, *travels):
        self.group = group or None
        self.socket, self.stream, self.journal, self.stop = socket, stream, Path(journal), Path(stop)
        self.chance = random.Random(int(seed))
        self.travels = bool(travels)
        self.fd = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.loader = self.batch = self.views = None
        # Since when it waits for a batch.
        self.hungry = time.monotonic()
        self.in_next = self.told_to_stop = False
        self.children = set()
        signal.signal(signal.SIGALRM, lambda _, frame: self.interrupt(frame, InterruptionError))
        signal.signal(signal.SIGTERM, self.terminate)

    def note(self, *words):
        """Writes a line of the journal."""
        os.write(self.fd, (" ".join(map(str, words)) + "\n").encode())

    def interrupt(self, frame, exception):
        """Raises if `next()` is running. Later, losing the batch would be the trainer's own fault."""
        while self.in_next and frame is not None:
            if frame.f_code.co_filename.startswith(PACKAGE):
                raise exception
            frame = frame.f_back

    def terminate(self, _number, frame):
        """Ends the trainer soon, whatever it is doing."""
        self.told_to_stop = True
        self.interrupt(frame, Stop)

    def run(self):
        """Consumes epochs until it is told to stop."""
        self.note("began")
        self.attach()
        if self.travels:
            self.go_on_loading()
        with contextlib.suppress(Stop):
            while not self.told_to_stop:
                try:
                    ended = self.step()
                except forebay.Outage as error:
                    self.note("outage", error)
                    self.attach()
                    continue
                if ended and self.stop.exists():
                    break
        self.eat()
        if self.batch is not None:
            # The journal has it as consumed.
            self.batch.ack()
        self.loader.close()
        self.note("left")

    def attach(self):
        """Makes a Loader, as soon as there is a daemon."""
        self.views = None
        if self.loader is not None:
            self.loader.close()
        while True:
            with contextlib.suppress(forebay.AttachError):
                self.loader = forebay.Loader(f"stream:{self.stream}", socket=self.socket, group=self.group)
                self.note("attached", f"{time.monotonic():.3f}")
                return
            time.sleep(0.02)

    def step(self):
        """Takes one batch. True at the end of an epoch."""
        self.hungry = self.hungry or time.monotonic()
        try:
            self.in_next = True
            signal.setitimer(signal.ITIMER_REAL, self.chance.choice([0, self.chance.uniform(0.00001, 0.02)]))
            batch = self.draw()
        except (InterruptionError, TimeoutError) as interruption:
            self.note("interrupted" if isinstance(interruption, InterruptionError) else "late")
            return False
        except forebay.MissedBatches as missed:
            self.eat()
            self.note("missed", missed.epoch, missed.records)
            return False
        finally:
            self.in_next = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.eat()
        if self.views is not None:
            # Views of a batch that was consumed keep its slot.
            self.compare(*self.views)
            self.views = None
        if batch is None:
            self.batch = None
            return True
        self.note("of", incarnation(batch.images.ctypes.data), "-")
        own = batch.records[batch.mask].tolist()
        if self.chance.random() < 0.05:
            self.batch = None
            self.note("rejected", batch.epoch, *own)
            batch.reject()
            return False
        self.batch = batch
        self.note("got", batch.epoch, *own)
        self.look(batch)
        if self.chance.random() < 0.02:
            self.fork()
        time.sleep(self.chance.uniform(0, 0.01))
        self.look(batch)
        self.views = (batch.epoch, batch.images, batch.records)
        if self.travels and self.chance.random() < 0.1:
            self.take_state()
        if self.travels and self.chance.random() < 0.02:
            self.load_state()
        return False

    def eat(self):
        """Waits no longer for a batch."""
        if self.hungry and (now := time.monotonic()) - self.hungry > SHORT:
            self.note("waited", f"{self.hungry:.3f}", f"{now:.3f}")
        self.hungry = None

    def look(self, batch):
        """Compares the pixels of a batch with its records."""
        self.compare(batch.epoch, batch.images, batch.records)

    def compare(self, epoch, images, records):
        """Compares pixels with records. Views on a batch keep both as they are."""
        if not all(is_of(pixels.tobytes(), int(record)) for pixels, record in zip(images, records)):
            self.note("wrong", epoch, *records.tolist())

    def fork(self):
        """Makes a child, which keeps the connection open. It may live longer than this process."""
        self.children = {child for child in self.children if os.waitpid(child, os.WNOHANG) == (0, 0)}
        child = os.fork()
        if child:
            self.children.add(child)
            self.note("forked")
            return
        try:
            time.sleep(self.chance.uniform(0, 0.3))
        finally:
            # Nothing of the parent's is closed.
            os._exit(0)

    def draw(self):
        """The next batch, by one of the ways in which users get it."""
        way = self.chance.randrange(3)
        if way == 0:
            return next(iter(self.loader), None)
        return self.loader.next(timeout=0.05 if way == 1 else None)

    def noted(self, *whats):
        """The journal's lines of these kinds, as words."""
        lines = (line.split() for line in self.journal.read_text().splitlines())
        return [line for line in lines if line[0] in whats]

    def take_state(self):
        """Stores a state beside the journal."""
        try:
            state = self.loader.state_dict()
        except (forebay.Error, TimeoutError) as error:
            self.note("refused state_dict:", error)
            return
        # A kill may come after a state is stored and before it is noted. The next state then replaces it.
        number = len(self.noted("state"))
        self.journal.with_name(f"{self.journal.name}.{number}").write_text(json.dumps(state))
        self.note("state", number, state["epoch"])

    def load_state(self):
        """Loads one of the last states."""
        if states := self.noted("state")[-KEPT_STATES:]:
            self.load(int(self.chance.choice(states)[1]))

    def load(self, number):
        """Loads a state. Tries until it succeeds, since a failed attempt may or may not have loaded it."""
        state = json.loads(self.journal.with_name(f"{self.journal.name}.{number}").read_text())
        self.note("loading", number)
        while True:
            try:
                self.loader.load_state_dict(state)
                break
            except forebay.Outage:
                self.attach()
            except (forebay.Error, TimeoutError) as error:
                self.note("refused load_state_dict:", error)
                time.sleep(0.05)
        self.batch = None
        self.note("loaded", number)

    def go_on_loading(self):
        """Finishes a load that a kill has interrupted."""
        loads = self.noted("loading", "loaded")
        if loads and loads[-1][0] == "loading":
            self.load(int(loads[-1][1]))


def incarnation(address: int) -> int:
    """The incarnation of the daemon that made the ring in which this is, from the header with which the ring begins."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(each, 16) for each in line.split()[0].split("-"))
        if begin <= address < end:
            return ctypes.c_uint64.from_address(begin + 16).value
    raise ValueError(f"nothing is mapped at {address}")


if __name__ == "__main__":
    Trainer(*sys.argv[1:]).run()
