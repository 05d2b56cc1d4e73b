"""What the trainers of the torture test wrote into their journals, and what must be true of it."""

from collections import Counter


class History:
    """How often each record of each epoch was consumed."""

    def __init__(self):
        # In the run as it is now. Loading a state takes back everything since that state.
        self.run = {}
        # As the ledger counts. An epoch that is complete in a state keeps its count when the state is loaded.
        self.tallied = {}
        # The epoch of the last batch.
        self.last = 0
        self.states = {}
        self.lines = Counter()

    def read(self, journal):
        """Adds a trainer's journal. A trainer that loads states is the only one of its stream."""
        for line in journal.read_text().splitlines():
            what, *words = line.split()
            if what == "of":
                # Where a batch is from is of no account here.
                continue
            self.lines[what] += 1
            if what == "got":
                epoch, *records = map(int, words)
                self.last = epoch
                for epochs in (self.run, self.tallied):
                    epochs.setdefault(epoch, Counter()).update(records)
            elif what == "state":
                number, first_open = map(int, words)
                # With the last batch of an epoch in hand, the epoch has ended in the state, and not yet in the ledger.
                ended = self.last if self.last < first_open else None
                self.states[number] = (first_open, ended, copy(self.run), copy(self.tallied))
            elif what == "loaded":
                first_open, ended, run, tallied = self.states[int(words[0])]
                kept = {epoch: seen for epoch, seen in self.tallied.items() if epoch < first_open}
                gone_back = {epoch: seen for epoch, seen in copy(tallied).items() if epoch >= first_open}
                if ended in kept and ended in tallied:
                    # Then the state brings its own count of that epoch, and what was counted after it is undone.
                    # Whether the batch was in hand is not in the journal: no more is expected than in either case.
                    kept[ended] = min(kept[ended], Counter(tallied[ended]), key=lambda seen: sum(seen.values()))
                self.run, self.tallied = copy(run), kept | gone_back
        return self

    def missing(self, audits, records):
        """Epochs that the audit calls complete and that are not."""
        for audit in audits:
            if audit.complete:
                if not audit.adds_up or audit.delivered != records:
                    yield f"{audit}: not each of {records} records was delivered once"
                if missed := set(range(records)) - set(self.run.get(audit.epoch, ())):
                    yield f"epoch {audit.epoch}: no trainer had {sorted(missed)}, which the ledger counts as delivered"

    def uncovered(self, accounts, complete, records):
        """Differences between what this trainer's group had and what the audit counts for the group, by epoch.

        `complete` has the epochs that are complete. From its second epoch on, the group is there all the time: what it
        did not have, the audit says that it missed.
        """
        for epoch, account in accounts.items():
            if (had := len(self.run.get(epoch, ()))) < account["records"]:
                yield f"epoch {epoch}: the group had {had} records, and the audit counts {account['records']} for it"
        for epoch in (epoch for epoch in complete if epoch > min(self.run, default=0)):
            skipped = set(range(records)) - set(self.run.get(epoch, ()))
            missed = accounts.get(epoch, {}).get("missed") or {"records": 0}
            if len(skipped) > missed["records"]:
                yield f"epoch {epoch}: the group did not have {sorted(skipped)}, and the audit says it missed {missed}"

    def wrong(self):
        """Batches whose pixels were not those of their records."""
        if self.lines["wrong"]:
            yield f"{self.lines['wrong']} times the pixels of a batch were not those of its records"

    def unnamed(self, audits):
        """Repetitions that the audit does not name."""
        for audit in audits:
            named = sum(audit.repeats.values())
            if (again := self.repetitions(audit.epoch)) > named:
                seen = {record: times for record, times in self.tallied[audit.epoch].items() if times > 1}
                yield f"epoch {audit.epoch}: {again} repetitions, of which the audit names {named}: {seen}"

    def repetitions(self, epoch):
        """How many deliveries of an epoch repeat a record."""
        seen = self.tallied.get(epoch, {})
        return sum(seen.values()) - len(seen)


def copy(epochs):
    """A copy that later changes do not affect."""
    return {epoch: Counter(seen) for epoch, seen in epochs.items()}
