"""One of the ranks of the torture test that load a state together. It does what each line says that it is sent.

`take N` takes so many batches and acks them, `state FILE` stores a state, `mark` says that another rank has stored one,
`load FILE` loads it, `here` asks the daemon something, and `rest` takes batches until the epoch ends. An empty line
ends it. Its journal has `got EPOCH RECORDS` for each batch, `state`, `loaded`, and `done NUMBER` after each line.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import forebay


class Rank:
    """The only Loader of this process, and its journal."""

    def __init__(self, socket: str, stream: str, journal: str) -> None:
        self.socket, self.stream = socket, f"stream:{stream}"
        self.fd = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.loader = self.attach()

    def attach(self) -> forebay.Loader:
        """Makes a Loader. The daemon may be short of something for a moment."""
        while True:
            with contextlib.suppress(forebay.AttachError):
                return forebay.Loader(self.stream, socket=self.socket)
            time.sleep(0.02)

    def note(self, *words: object) -> None:
        """Writes a line of the journal."""
        os.write(self.fd, (" ".join(map(str, words)) + "\n").encode())

    def run(self) -> None:
        """Does what it is told to."""
        for number, line in enumerate(iter(sys.stdin.readline, ""), 1):
            what, *words = line.split() or [""]
            if not what:
                break
            getattr(self, what)(*words)
            self.note("done", number)
        self.loader.close()

    def batches(self) -> Iterator[forebay.Batch]:
        """The rest of the epoch. Each batch is noted when it is here."""
        while (batch := self.loader.next()) is not None:
            self.note("got", batch.epoch, *batch.records[batch.mask].tolist())
            yield batch

    def take(self, count: str) -> None:
        """Takes batches. A state that any rank takes after this has them."""
        for _, batch in zip(range(int(count)), self.batches()):
            batch.ack()
        # It waits until the acks are durable.
        self.here()

    def here(self) -> None:
        """Asks the daemon something, and so comes back to one that was started again."""
        self.loader.state_dict()

    def rest(self) -> None:
        """Takes batches until the epoch ends."""
        for _ in self.batches():
            pass

    def state(self, file: str) -> None:
        """Stores a state."""
        Path(file).write_text(json.dumps(self.loader.state_dict()))
        self.mark()

    def mark(self) -> None:
        """A state was stored."""
        self.note("state")

    def load(self, file: str) -> None:
        """Loads a state."""
        self.loader.load_state_dict(json.loads(Path(file).read_text()))
        self.note("loaded")


if __name__ == "__main__":
    Rank(*sys.argv[1:]).run()
