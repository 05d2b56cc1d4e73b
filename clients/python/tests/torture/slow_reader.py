"""A slow reader of the torture test: it holds a batch until its group is ended, and for as long as it likes after that.

Its journal has `holds PID` once it has the batch, `evicted TEXT` when it was told what became of its group, or `got` if
it was given another batch instead, and `back` when it has read as a new group. `wrong EPOCH RECORDS` is a batch whose
pixels were not those of its records. It goes on after each line that it is sent, and ends with the last one.
"""

import contextlib
import os
import random
import select
import sys
import time

import forebay
from payload import is_of

# Seconds for which it waits for a batch that is to come.
PATIENCE = 60


class SlowReader:
    """The Loaders of this process, one after the other, and its journal."""

    def __init__(self, socket: str, stream: str, journal: str, seed: str, group: str) -> None:
        self.socket, self.stream, self.group = socket, f"stream:{stream}", group or None
        self.chance = random.Random(int(seed))
        self.fd = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, *words: object) -> None:
        """Writes a line of the journal."""
        os.write(self.fd, (" ".join(map(str, words)) + "\n").encode())

    def run(self) -> None:
        """Reads some batches, and holds the last one."""
        loader = self.attach(self.group)
        for _ in range(self.chance.randrange(1, 5)):
            batch = self.read(loader)
        images, records = batch.images, batch.records
        self.note("holds", os.getpid())
        self.look(batch.epoch, images, records)
        try:
            self.note("got", loader.next(timeout=PATIENCE))
        except forebay.Evicted as evicted:
            self.note("evicted", evicted)
        # What it holds stays as it is, whoever has read it by now.
        with self.attach(None) as again:
            self.read(again)
        self.note("back")
        self.look(batch.epoch, images, records)

    def attach(self, group: str | None) -> forebay.Loader:
        """Makes a Loader. The daemon may be short of something for a moment."""
        while True:
            with contextlib.suppress(forebay.AttachError):
                return forebay.Loader(self.stream, socket=self.socket, group=group)
            time.sleep(0.02)

    def read(self, loader: forebay.Loader) -> forebay.Batch:
        """The next batch, of whichever epoch."""
        while True:
            with contextlib.suppress(forebay.MissedBatches):
                if batch := loader.next(timeout=PATIENCE):
                    return batch

    def look(self, epoch: int, images, records) -> None:
        """Compares the pixels of a batch with its records again and again, until a line comes."""
        while True:
            if not all(is_of(pixels.tobytes(), int(record)) for pixels, record in zip(images, records)):
                self.note("wrong", epoch, *records.tolist())
            if select.select([sys.stdin], [], [], 0.02)[0]:
                sys.stdin.readline()
                return


if __name__ == "__main__":
    SlowReader(*sys.argv[1:]).run()
