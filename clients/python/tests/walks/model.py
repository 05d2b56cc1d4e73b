"""What a trainer is to see, whatever dies: sets of records, nothing clever."""

from collections import defaultdict


class MismatchError(AssertionError):
    """The history and the model differ."""


class Model:
    """The records that a trainer has consumed, epoch by epoch."""

    def __init__(self, records, epochs, *, drops, lockstep=False):
        self.records = records
        self.epochs = epochs
        self.drops = drops
        self.lockstep = lockstep
        # The steps of each epoch that were given so far, in lockstep: a new one is always the next.
        self.steps = defaultdict(list)
        # Batches that were given back, and have not come again.
        self.rejected = []
        self.consumed = defaultdict(set)
        self.abandoned = set()
        # The epoch that the trainer has begun, and of whose end it has not been told.
        self.within = None
        # Epoch and records of the batch in hand.
        self.hand = None

    def least(self, batch_size):
        """The number of records that must be consumed at an epoch's end."""
        return self.records - (batch_size - 1 if self.drops else 0)

    def is_over(self, epoch, batch_size):
        """Whether an epoch may have ended."""
        return epoch in self.abandoned or len(self.consumed[epoch]) >= self.least(batch_size)

    def is_last(self, batch_size):
        """Whether the batch in hand is the last one of its epoch."""
        epoch, records = self.hand or (None, ())
        return epoch is not None and len(self.consumed[epoch].union(records)) >= self.least(batch_size)

    def floor(self, batch_size):
        """The first epoch that cannot have ended."""
        epoch = 0
        while self.is_over(epoch, batch_size) and (self.epochs is None or epoch < self.epochs):
            epoch += 1
        return epoch

    def join(self, batch_size):
        """The trainer has asked for a batch, and no longer waits: it is in the stream's current epoch."""
        floor = self.floor(batch_size)
        if self.within is None and floor != self.epochs:
            self.within = floor

    def consume(self):
        """The batch in hand is acknowledged."""
        if self.hand:
            epoch, records = self.hand
            self.consumed[epoch].update(records)
            self.hand = None

    def batch(self, epoch, records, batch_size):
        """The trainer was given a batch."""
        again = self.consumed[epoch].intersection(records)
        if again or len(set(records)) != len(records):
            raise MismatchError(f"records {sorted(again) or records} of epoch {epoch} were repeated")
        if self.is_over(epoch, batch_size):
            raise MismatchError(f"epoch {epoch} was over and goes on")
        if self.within not in (None, epoch):
            raise MismatchError(f"a batch of epoch {epoch} arrived within epoch {self.within}")
        for before in range(epoch):
            if not self.is_over(before, batch_size):
                consumed = len(self.consumed[before])
                raise MismatchError(f"epoch {epoch} began before {before}, of which {consumed} records are consumed")
        self.within, self.hand = epoch, (epoch, tuple(records))
        if self.lockstep:
            self.step(epoch, tuple(records))

    def step(self, epoch, records):
        """In lockstep, a batch is one that was given back, or the first step that is not consumed."""
        if records in self.rejected:
            self.rejected.remove(records)
            return
        steps, consumed = self.steps[epoch], self.consumed[epoch]
        is_open = (step for step in steps if not consumed.issuperset(step) and step not in self.rejected)
        expected = next(is_open, None)
        if expected is None:
            steps.append(records)
        elif records != expected:
            raise MismatchError(f"records {list(records)} of epoch {epoch} arrived before {list(expected)}")

    def reject(self):
        """The trainer has given the batch in hand back. It comes again behind those that wait for the trainer."""
        self.rejected.append(self.hand[1])
        self.hand = None

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
        """The trainer has ended its epoch early."""
        self.consume()
        if self.within is not None and len(self.consumed[self.within]) < self.records:
            self.abandoned.add(self.within)
        self.within, self.rejected = None, []

    def saved(self):
        """What a state holds: the batch in hand counts as consumed. In lockstep, steps behind an open one do not."""
        consumed = copied(self.consumed)
        if self.hand:
            consumed[self.hand[0]].update(self.hand[1])
        for epoch, steps in self.steps.items():
            is_open = [not consumed[epoch].issuperset(step) for step in steps]
            if True in is_open and epoch not in self.abandoned:
                consumed[epoch] = set().union(*steps[: is_open.index(True)])
        return consumed, set(self.abandoned)

    def load(self, saved):
        """The trainer has loaded a state."""
        consumed, abandoned = saved
        self.consumed = copied(consumed)
        self.abandoned = set(abandoned)
        self.within, self.hand, self.rejected = None, None, []

    def check(self, line):
        """A line of the audit."""
        consumed = len(self.consumed[line.epoch])
        if line.abandoned and line.epoch not in self.abandoned:
            raise MismatchError(f"{line}, but it was not ended early")
        if line.adds_up and (line.delivered, line.abandoned + line.dropped) != (consumed, self.records - consumed):
            raise MismatchError(f"{line}, but {consumed} were consumed")


def copied(consumed):
    """Later changes of one do not change the other."""
    return defaultdict(set, {epoch: set(records) for epoch, records in consumed.items()})
