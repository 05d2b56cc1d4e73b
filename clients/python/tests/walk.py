"""A random walk of one trainer, whose whole history is compared with a model: sets of records, nothing clever.

`python clients/python/tests/walk.py CALLS [FIRST_SEED]` walks until that many calls are made, each walk in a process of
its own, and ends with the number of findings. A finding names the seed and the calls that led there.
"""

import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from pathlib import Path
from typing import ClassVar

import forebay
from forebay import _command
from processes import Daemon, private_daemons

# A private daemon is started again so often.
DEATHS = 3
# Nothing takes this long where all is well.
PATIENCE = 60
# A daemon that starts keeps what its trainers had for 0.8 s, and may give it again to a trainer that comes later. Where
# the machine is so busy, a walk ends.
GRACE = 0.5
# Calls that reach the daemon.
REACHING = {"next", "state", "load", "reset", "reopen", "audit"}


class MismatchError(AssertionError):
    """The history and the model differ."""


class Model:
    """What a trainer is to see, whatever dies."""

    def __init__(self, records, epochs, *, drops):
        self.records = records
        self.epochs = epochs
        self.drops = drops
        self.consumed = defaultdict(set)
        self.abandoned = set()
        # The epoch that the trainer has begun and not been told the end of.
        self.within = None
        # Epoch and records of the batch in hand.
        self.hand = None

    def least(self, batch_size):
        """So many records of an epoch must be consumed at its end."""
        return self.records - (batch_size - 1 if self.drops else 0)

    def is_over(self, epoch, batch_size):
        return epoch in self.abandoned or len(self.consumed[epoch]) >= self.least(batch_size)

    def floor(self, batch_size):
        epoch = 0
        while self.is_over(epoch, batch_size) and (self.epochs is None or epoch < self.epochs):
            epoch += 1
        return epoch

    def join(self, batch_size):
        """The trainer has asked for a batch and waits no longer: it is in whatever epoch the stream is in."""
        floor = self.floor(batch_size)
        if self.within is None and floor != self.epochs:
            self.within = floor

    def consume(self):
        if self.hand:
            epoch, records = self.hand
            self.consumed[epoch].update(records)
            self.hand = None

    def batch(self, epoch, records, batch_size):
        """The trainer was given a batch."""
        again = self.consumed[epoch].intersection(records)
        if again or len(set(records)) != len(records):
            raise MismatchError(f"records {sorted(again) or records} of epoch {epoch} came again")
        if epoch in self.abandoned:
            raise MismatchError(f"epoch {epoch} was abandoned and goes on")
        if self.within not in (None, epoch):
            raise MismatchError(f"a batch of epoch {epoch} came within epoch {self.within}")
        for before in range(epoch):
            if not self.is_over(before, batch_size):
                consumed = len(self.consumed[before])
                raise MismatchError(f"epoch {epoch} began before {before}, of which {consumed} records are consumed")
        self.within, self.hand = epoch, (epoch, tuple(records))

    def end(self, batch_size):
        """The trainer was told that its epoch, or the stream, has ended."""
        if self.within is None:
            floor = self.floor(batch_size)
            if self.epochs is None or floor < self.epochs:
                raise MismatchError(f"the stream ended, although epoch {floor} is not over")
        elif not self.is_over(self.within, batch_size):
            raise MismatchError(f"epoch {self.within} ended with {len(self.consumed[self.within])} records consumed")
        self.within = None

    def reset(self):
        self.consume()
        if self.within is not None and len(self.consumed[self.within]) < self.records:
            self.abandoned.add(self.within)
        self.within = None

    def saved(self):
        """What a state holds: the batch in hand counts as consumed."""
        consumed = defaultdict(set, {epoch: set(records) for epoch, records in self.consumed.items()})
        if self.hand:
            consumed[self.hand[0]].update(self.hand[1])
        return consumed, set(self.abandoned)

    def load(self, saved):
        consumed, abandoned = saved
        self.consumed = defaultdict(set, {epoch: set(records) for epoch, records in consumed.items()})
        self.abandoned = set(abandoned)
        self.within = self.hand = None


class Walk:
    """One Loader after another on the same records: of this process's own daemon, or of a service that is killed."""

    CALLS: ClassVar = {
        "next": 20,
        "glance": 3,
        "reject": 2,
        "ack": 2,
        "state": 2,
        "load": 1,
        "reset": 0.7,
        "keep": 1,
        "kill": 1,
        "reopen": 0.3,
        "audit": 0.3,
    }

    def __init__(self, seed, folder):
        self.chance = chance = random.Random(seed)
        self.folder = Path(folder)
        records = chance.choice([1, 2, 5, 16, 17, 33, 64, 100])
        self.batch_size = chance.choice([1, 2, 3, 8, 16, 50])
        policy = chance.choice(["partial", "partial", "fill", "drop"])
        epochs = chance.choice([1, 2, 3, 5, None])
        if policy == "drop" and records < self.batch_size:
            policy = "fill"
        self.settings = {
            "shuffle": chance.random() < 0.5,
            "seed": chance.randrange(100),
            "last_batch_policy": policy,
            **({"epochs": epochs} if epochs else {}),
        }
        self.kind = chance.choice(["private", "named", "service"])
        self.model = Model(records, epochs, drops=policy == "drop")
        self.pictures = self._draw(records)
        self.daemon = None
        self.deaths = 0
        # When the daemon was killed that the trainer has not come back from.
        self.killed = None
        self.states = []
        # Epochs that were complete when a state was loaded keep the tallies that they had.
        self.loaded = False
        self.kept = None
        self.calls = 0
        self.log = []
        self.loader = None
        self.batch = None

    def _draw(self, records):
        folder = self.folder / "pictures"
        folder.mkdir()
        for number in range(records):
            (folder / f"{number:04}.ppm").write_bytes(b"P6 8 8 255\n" + bytes([number, 100, 200]) * 64)
        return folder

    def run(self, calls):
        """So many calls at random, then the rest of the epoch and the audit."""
        try:
            self._open()
            for _ in range(calls):
                name = self.chance.choices(list(self.CALLS), list(self.CALLS.values()))[0]
                self.calls += 1
                self.log.append(name)
                if self._call(name):
                    return
            if not self.killed:
                self._finish()
        finally:
            if self.loader:
                self.loader.close()
            if self.daemon:
                self.daemon.end()

    def _call(self, name):
        """True where the trainer came back to its daemon too late."""
        if self.daemon is None:
            # A private daemon is started by the call that misses it.
            self.killed = self.killed and time.monotonic()
        try:
            getattr(self, f"_{name}")()
        except MismatchError:
            if not self._is_late():
                raise
        late = self._is_late()
        if name in REACHING:
            self.killed = None
        return late

    def _is_late(self):
        return self.killed is not None and time.monotonic() - self.killed > GRACE

    def _open(self):
        if self.kind == "service":
            if self.daemon is None:
                self.daemon = self._service()
            self.loader = forebay.Loader("stream:train", socket=self.daemon.socket)
        else:
            run = {"run": "walk"} if self.kind == "named" else {}
            self.loader = forebay.Loader(self.pictures, batch_size=self.batch_size, size=8, **self.settings, **run)

    def _service(self):
        sockets = self.folder / "sockets"
        sockets.mkdir(mode=0o700, exist_ok=True)
        self._configure()
        command = [_command.binary(), "serve", "--config", str(self.folder / "forebay.toml")]
        return Daemon(command, sockets / "forebay.sock")

    def _configure(self):
        stream = {"source": str(self.pictures), "batch_size": self.batch_size, "size": 8, **self.settings}
        lines = [f"{key} = {json.dumps(value)}" for key, value in stream.items()]
        head = [f'[control]\ndir = "{self.folder / "sockets"}"', f'[coordinator]\npath = "{self.folder / "state"}"']
        (self.folder / "forebay.toml").write_text("\n".join(['drain_timeout = "1s"', *head, "[streams.train]", *lines]))

    def _take(self, timeout):
        """`next()`, which consumes the batch in hand whatever comes of it."""
        self.batch = None
        try:
            batch = self.loader.next(timeout)
        except forebay.SlotsHeld:
            self.model.consume()
            self._let_go()
            batch = self.loader.next(timeout)
        self.model.consume()
        if batch is None:
            self.log[-1] += " end"
            self.model.end(self.batch_size)
            return
        own = batch.records[batch.mask].tolist()
        self.log[-1] += f" {batch.epoch}:{own}"
        self.model.batch(batch.epoch, own, self.batch_size)
        if len(batch.mask) > self.batch_size or batch.valid != len(own) or not own:
            raise MismatchError(f"{batch} has {len(own)} records of its own")
        shown = batch.images[:, 0, 0, 0].tolist()
        if shown != batch.records.tolist():
            raise MismatchError(f"the pictures are {shown}, the records {batch.records.tolist()}")
        self.batch = batch

    def _next(self):
        try:
            self._take(PATIENCE)
        except TimeoutError:
            raise MismatchError("nothing came") from None

    def _glance(self):
        try:
            self._take(self.chance.choice([0, 0.001, 0.02]))
        except TimeoutError:
            self.model.consume()
            self.model.join(self.batch_size)

    def _reject(self):
        if self.model.hand:
            # The batch comes again when nobody looks at it any more.
            self._let_go()
            self.batch.reject()
            self.model.hand = self.batch = None

    def _ack(self):
        if self.model.hand:
            self.batch.ack()
            self.model.consume()
            with contextlib.suppress(forebay.Error):
                self.batch.reject()
                raise MismatchError("a batch was rejected after its ack")

    def _state(self):
        state = json.loads(json.dumps(self.loader.state_dict()))
        self.states.append((state, self.model.saved()))

    def _load(self):
        if self.states:
            index = self.chance.randrange(len(self.states))
            self.log[-1] += f" {index}"
            state, saved = self.states[index]
            self.loader.load_state_dict(state)
            self.model.load(saved)
            self.loaded = True
            self.batch = None

    def _reset(self):
        self.loader.reset()
        self.model.reset()
        self.batch = None

    def _keep(self):
        """Looks at a batch for longer than it is held."""
        self._let_go()
        if self.batch is not None:
            self.kept = self.batch.images, self.batch.images.copy()

    def _let_go(self):
        if self.kept and (self.kept[0] != self.kept[1]).any():
            raise MismatchError("kept pixels have changed")
        self.kept = None

    def _kill(self):
        if self.daemon:
            self.daemon.kill()
            if self.chance.random() < 0.3:
                self._resize()
            self.killed = time.monotonic()
            self.daemon.start()
        elif self.deaths < DEATHS:
            self.deaths += 1
            for pid in private_daemons():
                os.kill(pid, signal.SIGKILL)
            self.killed = time.monotonic()

    def _resize(self):
        """Another batch size, which a run may have from one daemon to the next."""
        if not self.model.drops:
            self.batch_size = self.chance.choice([1, 2, 3, 8, 16, 50])
            self.log[-1] += f" {self.batch_size}"
            if self.daemon:
                self._configure()

    def _reopen(self):
        # A Loader that has left hands nothing in: what it consumed is to be durable before a daemon is killed.
        self.loader.state_dict()
        self.loader.close()
        self.model.hand = self.model.within = self.batch = None
        if self.kind != "service":
            self._resize()
        if self.kind == "private":
            self.model.load(Model(0, None, drops=False).saved())
        self._open()

    def _audit(self):
        for line in self.loader.audit():
            if line.adds_up is False:
                raise MismatchError(f"{line} does not add up")
            if self.loaded:
                continue
            consumed = len(self.model.consumed[line.epoch])
            left = self.model.records - consumed
            given_up = line.abandoned + line.dropped
            if line.abandoned and line.epoch not in self.model.abandoned:
                raise MismatchError(f"{line}, but it was not ended early")
            if line.adds_up and (line.delivered, given_up) != (consumed, left):
                raise MismatchError(f"{line}, but {consumed} were consumed")
        if self.loader.quarantine:
            raise MismatchError(f"in quarantine: {self.loader.quarantine}")

    def _finish(self):
        """Nothing was lost: the epoch comes to its end."""
        self.log.append("finish")
        self._let_go()
        most = 3 * self.model.records + 3
        for _ in range(most):
            self._next()
            if self.model.within is None:
                break
        else:
            raise MismatchError("the epoch does not end")
        self._audit()


def walk(seed, calls):
    """Walks in a process of its own. Answers how many calls were made, and the finding in words."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        words = ""
        with tempfile.TemporaryDirectory() as folder:
            os.environ["STATE_DIRECTORY"] = folder + "/runs"
            here = Walk(seed, folder)
            try:
                here.run(calls)
            except BaseException:
                told = ", ".join(here.log[-30:])
                words = f"seed {seed} ({here.kind}, {here.model.records} records, {here.settings}): {told}\n"
                words += traceback.format_exc(limit=-3)
            with os.fdopen(writer, "w") as pipe:
                json.dump([here.calls, words], pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return tuple(json.loads(told)) if told else (0, f"seed {seed}: the process died")


def main():
    """The long form of `test_walk.py`."""
    calls, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    made, walks, findings, began = 0, 0, 0, time.monotonic()
    while made < calls:
        done, words = walk(seed, random.Random(seed).randrange(5, 150))
        made, walks, seed = made + done, walks + 1, seed + 1
        if words:
            findings += 1
            print(words, flush=True)
    print(f"{made} calls in {walks} walks, {findings} findings, {time.monotonic() - began:.0f} s")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
