"""A walk: calls of a Loader at random, each of which is compared with the model."""

import contextlib
import json
import random
from typing import ClassVar

import forebay

from walks.model import MismatchError, Model
from walks.scene import Scene

# Seconds. Nothing takes this long if all is well.
PATIENCE = 60
# Calls that reach the daemon.
REACHING = {"next", "state", "border", "load", "pass_on", "reset", "reopen", "audit"}


class Walk:
    """One Loader after another on the same records."""

    CALLS: ClassVar = {
        "next": 20,
        "glance": 3,
        "reject": 2,
        "ack": 2,
        "state": 2,
        "border": 0.7,
        "load": 1,
        "pass_on": 0.5,
        "reset": 0.7,
        "keep": 1,
        "kill": 1,
        "reopen": 0.3,
        "audit": 0.3,
    }

    def __init__(self, seed, folder):
        self.chance = random.Random(seed)
        self.scene = Scene(self.chance, folder)
        self.model = Model(self.scene.records, self.scene.epochs, drops=self.scene.drops, lockstep=self.scene.is_rank)
        self.states = []
        # Whether a state was loaded. Epochs that were complete then keep their old counts in the audit.
        self.loaded = False
        self.kept = None
        self.calls = 0
        # States that were taken at the end of an epoch.
        self.borders = 0
        self.log = []
        self.loader = None
        self.batch = None

    def run(self, calls):
        """Makes that many random calls, then takes the rest of the epoch, and checks the audit."""
        try:
            self.loader = self.scene.open()
            for _ in range(calls):
                name = self.chance.choices(list(self.CALLS), list(self.CALLS.values()))[0]
                self.calls += 1
                self.log.append(name)
                if self._call(name):
                    return
            if not self.scene.killed:
                self._finish()
        finally:
            if self.loader:
                self.loader.close()
            self.scene.end()

    def _call(self, name):
        """True if the trainer returned to its daemon too late."""
        self.scene.begin_call()
        try:
            getattr(self, f"_{name}")()
        except MismatchError:
            if not self.scene.is_late():
                raise
        late = self.scene.is_late()
        if name in REACHING:
            self.scene.killed = None
        return late

    def _take(self, timeout):
        """Calls `next()`, which consumes the batch in hand in any case."""
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
            self.model.end(self.scene.batch_size)
            return
        own = batch.records[batch.mask].tolist()
        self.log[-1] += f" {batch.epoch}:{own}"
        self.model.batch(batch.epoch, own, self.scene.batch_size)
        if len(batch.mask) > self.scene.batch_size or batch.valid != len(own) or not own:
            raise MismatchError(f"{batch} has {len(own)} records of its own")
        shown = batch.images[:, 0, 0, 0].tolist()
        if shown != batch.records.tolist():
            raise MismatchError(f"the pictures are {shown}, the records {batch.records.tolist()}")
        self.batch = batch

    def _next(self):
        try:
            self._take(PATIENCE)
        except TimeoutError:
            raise MismatchError("no batch arrived") from None

    def _glance(self):
        try:
            self._take(self.chance.choice([0, 0.001, 0.02]))
        except TimeoutError:
            self.model.consume()
            self.model.join(self.scene.batch_size)

    def _reject(self):
        if self.model.hand:
            # The batch is delivered again when no view of it is left.
            self._let_go()
            self.batch.reject()
            self.model.reject()
            self.batch = None

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

    def _border(self):
        """Takes a state at the end of the epoch: with its last batch in hand, or when the end was told."""
        in_hand = self.chance.random() < 0.5
        self._next()
        if self.scene.is_late():
            return
        # The trainer has returned to its daemon.
        self.scene.killed = None
        self._go_on(lambda: in_hand and self.model.is_last(self.scene.batch_size))
        self.borders += 1
        self.log[-1] += " in hand" if self.batch is not None else ""
        self._state()

    def _pass_on(self):
        """Another trainer comes, and loads a state. What it gets first is a batch, unless the stream is over."""
        if self.states:
            self._reopen()
            self._load()
            self._next()

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
        """Keeps a view for longer than its batch."""
        self._let_go()
        if self.batch is not None:
            self.kept = self.batch.images, self.batch.images.copy()

    def _let_go(self):
        if self.kept and (self.kept[0] != self.kept[1]).any():
            raise MismatchError("kept pixels have changed")
        self.kept = None

    def _kill(self):
        self.log[-1] += self.scene.kill()

    def _reopen(self):
        # A closed Loader hands nothing in: what it consumed must be durable before a daemon is killed.
        self.loader.state_dict()
        self.loader.close()
        self.model.hand = self.model.within = self.batch = None
        if self.scene.kind != "service":
            self.log[-1] += self.scene.resize()
        if self.scene.kind == "private":
            self.model.load(Model(0, None, drops=False).saved())
        self.loader = self.scene.open()

    def _audit(self):
        for line in self.loader.audit():
            if line.adds_up is False:
                raise MismatchError(f"{line} does not add up")
            if not self.loaded:
                self.model.check(line)
        if self.loader.quarantine:
            raise MismatchError(f"in quarantine: {self.loader.quarantine}")

    def _finish(self):
        """Nothing was lost: the epoch comes to its end."""
        self.log.append("finish")
        self._let_go()
        self._next()
        self._go_on(lambda: False)
        self._audit()

    def _go_on(self, enough):
        """Takes batches until there are enough, or the epoch ends."""
        for _ in range(3 * self.model.records + 3):
            if self.model.within is None or enough():
                return
            self.calls += 1
            self._next()
        raise MismatchError("the epoch does not end")
