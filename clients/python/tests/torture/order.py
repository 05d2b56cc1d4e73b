"""What a trainer without a named group may claim: of one daemon, it gets each batch since its first one.

The ledger does not know such a trainer, so no audit shows what it did not get. But a daemon numbers its batches, and
each group gets them in the order of their epochs, and of their numbers within an epoch.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Batch(NamedTuple):
    """A batch as a journal has it: its daemon, its number or -1, its epoch and its records."""

    daemon: int
    number: int
    epoch: int
    records: tuple[int, ...]


class Stretch:
    """The batches that one trainer got from one daemon without an interruption, in that order."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        # Those that it gave back. They come again, unless the daemon ends first.
        self.rejected: list[Batch] = []


def stretches(journal: Path) -> Iterator[Stretch]:
    """What a journal has of each daemon. After a new process or a new attachment, it is another group."""
    stretch, origin = Stretch(), (0, -1)
    for line in journal.read_text().splitlines():
        what, *words = line.split()
        if what in {"began", "attached"}:
            yield stretch
            stretch = Stretch()
        elif what == "of":
            daemon, number = int(words[0]), -1 if words[1] == "-" else int(words[1])
            if origin[0] != daemon:
                yield stretch
                stretch = Stretch()
            origin = daemon, number
        elif what in {"got", "rejected"}:
            epoch, *records = map(int, words)
            into = stretch.batches if what == "got" else stretch.rejected
            into.append(Batch(*origin, epoch, tuple(records)))
    yield stretch


class Order:
    """The batches of each daemon in the order in which groups get them, from all journals of a stream."""

    def __init__(self, journals: Iterable[Path]) -> None:
        self.known: dict[int, set[tuple[int, int]]] = {}
        # Some languages do not tell a batch's number. But others have got the same batch.
        self.numbers: dict[tuple[int, int, tuple[int, ...]], int] = {}
        for journal in journals:
            for stretch in stretches(journal):
                for batch in (*stretch.batches, *stretch.rejected):
                    if batch.number >= 0:
                        self.known.setdefault(batch.daemon, set()).add((batch.epoch, batch.number))
                        self.numbers[batch.daemon, batch.epoch, batch.records] = batch.number

    def place(self, batch: Batch) -> tuple[int, int] | None:
        """Where a batch comes among its daemon's. Nothing if that is not known."""
        number = self.numbers.get((batch.daemon, batch.epoch, batch.records), -1) if batch.number < 0 else batch.number
        return (batch.epoch, number) if number >= 0 else None

    def skipped(self, stretch: Stretch) -> list[int]:
        """Numbers of batches between a stretch's first and last one that are not in it."""
        places = [place for batch in stretch.batches if (place := self.place(batch))]
        if not places:
            return []
        first, last = places[0], max(places)
        due = {place for place in self.known.get(stretch.batches[0].daemon, ()) if first < place < last}
        had = {*places} | {self.place(batch) for batch in stretch.rejected}
        skipped = {number for _, number in due - had}
        if len(places) == len(stretch.batches):
            # A number that nobody has may be of the next epoch, and still to come. Before that, each is of some batch.
            past = max((number for epoch, number in places if epoch < last[0] - 1), default=0)
            earlier = {number for epoch, number in self.known[stretch.batches[0].daemon] if (epoch, number) < first}
            numbers = {place[1] for place in had if place}
            skipped |= {*range(first[1], past)} - numbers - earlier
        return sorted(skipped)

    def checked(self, stretch: Stretch) -> int:
        """How many batches of a stretch have a known place."""
        return sum(self.place(batch) is not None for batch in stretch.batches)
