"""What must be true at the end: the journals of all trainers beside the ledger's accounts, and how long they waited."""

import json
import subprocess
from collections import Counter
from typing import NamedTuple

import forebay

from torture.history import History
from torture.order import Order, stretches
from torture.trainers import EACH, NAMED
from torture.waits import calm, waits


class Longest(NamedTuple):
    """The longest wait that nothing explains."""

    seconds: float = 0.0
    of: str = "nobody"


class Inquiry:
    """The journals of the trainers, and the accounts of the daemon at a socket.

    So many records are good. There may be one after them, which is bad.
    """

    def __init__(self, binary, socket, trainers, records):
        self.binary, self.socket, self.trainers, self.records = binary, socket, trainers, records

    def history(self, **wanted):
        """What the trainers had whose posts are as wanted."""
        history = History()
        for post in self.trainers.posts:
            # A trainer may have died before it wrote anything.
            if all(getattr(post, key) == value for key, value in wanted.items()) and post.journal.exists():
                history.read(post.journal)
        return history

    def streams(self):
        """What is wrong with the records of each stream, and figures."""
        findings, figures = [], Counter()
        for stream in sorted({post.stream for post in self.trainers.posts}):
            history = self.history(stream=stream)
            with forebay.Loader(f"stream:{stream}", socket=self.socket) as loader:
                audits, quarantine = loader.audit(), loader.quarantine
            figures += history.lines
            figures["epochs"] += sum(audit.complete for audit in audits)
            figures["records"] += sum(sum(seen.values()) for seen in history.run.values())
            for audit in audits:
                figures.update({f"named as {cause}": count for cause, count in audit.repeats.items()})
            # Of groups, each sees a record once.
            shares = [self.history(stream=stream, group=group) for group in NAMED] if stream == EACH else [history]
            if stream == EACH:
                nameless = [post for post in self.trainers.posts if post.stream == EACH and not post.group]
                shares += [self.history(journal=post.journal) for post in nameless]
            figures["records seen again"] += sum(each.repetitions(epoch) for each in shares for epoch in each.tallied)
            wrong = [*history.missing(audits, self.records), *history.wrong()]
            wrong += [f"a good record is in quarantine: {bad}" for bad in quarantine if bad.record != self.records]
            figures["bad records in quarantine"] += len(quarantine)
            wrong += [finding for each in shares for finding in each.unnamed(audits)]
            findings += [f"{stream}: {finding}" for finding in wrong]
        for language in self.trainers.commands:
            figures[f"batches in {language}"] = self.history(language=language).lines["got"]
        return findings, figures

    def groups(self):
        """Differences between the journals of the named groups and the audit, and figures."""
        findings, figures = [], Counter()
        for group in self.trainers.lasting_groups():
            accounts, complete = self.accounts(group)
            uncovered = self.history(group=group).uncovered(accounts, complete, self.records)
            findings += [f"{EACH}: group {group}: {finding}" for finding in uncovered]
            missed = [account["missed"] for account in accounts.values() if account["missed"]]
            figures["records of named groups"] += sum(account["records"] for account in accounts.values())
            figures["records that named groups missed"] += sum(each["records"] for each in missed)
        return findings, figures

    def nameless(self):
        """What trainers without a named group were not given, and of how many batches it is known that they were."""
        posts = [post for post in self.trainers.posts if post.stream == EACH and post.journal.exists()]
        order = Order(post.journal for post in posts)
        findings, checked = [], 0
        for post in (post for post in posts if not post.group and post.language in self.trainers.commands):
            for stretch in stretches(post.journal):
                checked += order.checked(stretch)
                if skipped := order.skipped(stretch):
                    daemon = stretch.batches[0].daemon
                    findings.append(f"{post.journal.name}: it was not given the batches {skipped} of daemon {daemon}")
        return findings, Counter({"batches of nameless groups in order": checked})

    def accounts(self, group):
        """What the audit says of a group, by epoch, and the epochs that add up."""
        command = [self.binary, "audit", EACH, "--json", "--socket-dir", self.socket.parent]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.stdout, done.stderr
        (stream,) = json.loads(done.stdout)["streams"]
        accounts = {
            epoch["epoch"]: account
            for epoch in stream["epochs"]
            for account in epoch["groups"]
            if account["group"] == group
        }
        return accounts, [epoch["epoch"] for epoch in stream["epochs"] if epoch["verdict"] == "adds_up"]

    def longest_wait(self, troubles):
        """The longest time that a trainer waited at a stretch without any of these troubles, nor an absence."""
        troubles = [*troubles, *self.trainers.absences()]
        longest = Longest()
        for post in self.trainers.posts:
            its_own = [trouble for trouble in troubles if trouble.stream in ("", post.stream)]
            for wait in waits(post.journal) if post.journal.exists() else ():
                longest = max(longest, Longest(calm(wait, its_own), f"{post.journal.name} at {wait.began:.3f}"))
        return longest
