"""Two ranks of the torture test that load one state, while their daemon dies before, between or after the loads.

The state is applied once (rule 23). So after the loads, each record that was not consumed before the state comes, and
it comes again only as often as the audit names repetitions. A trainer comes back to the next daemon when it calls
something, and the ledger waits for it only for a moment. So the first rank does that before the other one loads.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import forebay
from processes import wait_until

from torture.side_processes import SideProcess, SideProcesses

# The stream that only these ranks read.
RANKS = "ranks"
# Most batches before the state, after it, and between the loads. An epoch has more than all of them.
MOST = 5


class Ranks:
    """All pairs of ranks that were there, one pair after the other. `kill` kills the daemon, and starts it again."""

    def __init__(self, folder: Path, socket: Path, chance: Random, kill: Callable[[], None]) -> None:
        self.folder, self.socket, self.chance, self.kill = folder, socket, chance, kill
        self.processes = SideProcesses(folder, socket, 2)
        self.pairs: list[tuple[SideProcess, SideProcess]] = []
        # How many lines each rank was sent.
        self.sent: Counter[Path] = Counter()

    def load_together(self) -> None:
        """Two ranks read some batches, load a state of before, and read the rest of the epoch."""
        pair = self.processes.come("rank.py", RANKS), self.processes.come("rank.py", RANKS)
        self.pairs.append(pair)
        state = self.folder / f"state-of-ranks-{len(self.pairs)}"
        first, second = self.chance.sample(pair, 2)
        for rank in pair:
            self.does(rank, f"take {self.some()}")
        self.does(second, f"state {state}")
        self.does(first, "mark")
        for rank in pair:
            self.does(rank, f"take {self.some()}")
        self.may_kill()
        self.does(first, f"load {state}", self.may_kill)
        self.does(first, f"take {self.some()}", self.may_kill)
        self.may_kill()
        self.does(first, "here")
        self.does(second, f"load {state}")
        ends = [self.begins(rank, "rest") for rank in pair]
        self.may_kill()
        for wait in ends:
            wait()
        self.processes.finish()

    def some(self) -> int:
        """How many batches a rank takes."""
        return self.chance.randrange(MOST)

    def may_kill(self) -> None:
        """The daemon dies, or not."""
        if self.chance.random() < 0.4:
            time.sleep(self.chance.uniform(0, 0.05))
            self.kill()

    def begins(self, rank: SideProcess, line: str) -> Callable[[], None]:
        """A rank begins something. Gives what waits for its end."""
        self.sent[rank.journal] += 1
        number = str(self.sent[rank.journal])
        rank.tell(line)

        def wait() -> None:
            wait_until(lambda: number in rank.lines("done") or rank.process.poll() is not None)
            assert number in rank.lines("done"), f"{line}: {rank.how_it_ended()}"

        return wait

    def does(self, rank: SideProcess, line: str, meanwhile: Callable[[], None] = lambda: None) -> None:
        """A rank does something, while something else happens."""
        wait = self.begins(rank, line)
        meanwhile()
        wait()

    def findings(self, records: int) -> Iterator[str]:
        """What is wrong with what the ranks had, of so many records."""
        with forebay.Loader(f"stream:{RANKS}", socket=self.socket) as loader:
            audits = {audit.epoch: audit for audit in loader.audit()}
        for pair in self.pairs:
            counts = [consumed(rank.journal) for rank in pair]
            seen = counts[0] + counts[1]
            names = " and ".join(rank.journal.name for rank in pair)
            for epoch in {epoch for epoch, _ in seen}:
                of_epoch = {record: times for (of, record), times in seen.items() if of == epoch}
                audit = audits[epoch]
                if missed := set(range(records)) - set(of_epoch):
                    yield f"{names}: epoch {epoch}: they did not get {sorted(missed)}"
                if not audit.complete or not audit.adds_up or audit.delivered != records:
                    yield f"{names}: {audit}: not each of {records} records was delivered once"
                again, named = sum(of_epoch.values()) - len(of_epoch), sum(audit.repeats.values())
                if again > named:
                    repeated = {record: times for record, times in of_epoch.items() if times > 1}
                    yield f"{names}: epoch {epoch}: {again} repetitions, of which the audit names {named}: {repeated}"

    def close(self) -> None:
        """Ends all."""
        self.processes.close()


def consumed(journal: Path) -> Counter[tuple[int, int]]:
    """The epochs and records that a rank has consumed. What it had between the state and its load does not count."""
    kept: Counter[tuple[int, int]] = Counter()
    since: Counter[tuple[int, int]] = Counter()
    for line in journal.read_text().splitlines():
        what, *words = line.split()
        if what == "got":
            epoch, *records = map(int, words)
            since.update((epoch, record) for record in records)
        elif what == "state":
            kept, since = kept + since, Counter()
        elif what == "loaded":
            since = Counter()
    return kept + since
