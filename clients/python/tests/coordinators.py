"""Coordinators that tests start, kill and ask."""

import json
import subprocess


class Coordinator:
    """A `forebay coordinate` with its ledgers in a folder."""

    def __init__(self, binary, folder, place):
        self.binary, self.folder = binary, folder
        # As `--listen` takes it.
        self.place = place
        self.process = None
        self.token = []

    @property
    def address(self):
        """As daemons, clients and commands take it."""
        return self.place if self.place.startswith("unix:") else f"http://{self.place}"

    def start(self, *arguments):
        """Starts it, or starts it again."""
        place = ["--listen", self.place, "--path", str(self.folder / "ledgers")]
        self.process = subprocess.Popen(
            [self.binary, "coordinate", *place, *self.token, *arguments], stdin=subprocess.DEVNULL
        )
        self.forebay("status", "--wait")

    def ask_for(self, token):
        """From its next start on, each call must have the token in this file."""
        self.token = ["--token-file", str(token)]

    def kill(self):
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()

    def forebay(self, *arguments):
        """What a command says that asks the coordinator."""
        command = [self.binary, *arguments, "--coordinator", self.address, *self.token]
        return subprocess.run(command, check=True, text=True, capture_output=True).stdout

    def audit(self):
        """The epochs of the only dataset."""
        command = [self.binary, "audit", "--json", "--coordinator", self.address, *self.token]
        audit = subprocess.run(command, check=False, text=True, capture_output=True)
        # 3: complete but for bad records.
        assert audit.returncode in (0, 3), audit.stderr
        (stream,) = json.loads(audit.stdout)["streams"]
        return stream["epochs"]


def complete(epochs, records):
    """Whether each of the epochs adds up."""
    return epochs and all((epoch["verdict"], epoch["records"]) == ("adds_up", records) for epoch in epochs)


def spans(client):
    """Reads everything, and gives the first records of all shards."""
    found = []
    while shard := client.fetch_shard():
        found.append(shard.start)
        client.report_batch_done(len(shard))
    return found
