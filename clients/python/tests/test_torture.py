"""Trainers and daemon are killed again and again, also together; every record of every epoch still comes."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

EPOCHS, RECORDS, TRAINERS = 4, 90, 3

TRAINER = """
import sys, time, forebay
socket, file, epochs = sys.argv[1:]
out = open(file, "a")
while True:
    try:
        loader = forebay.Loader("stream:train", socket=socket)
        break
    except forebay.AttachError:
        time.sleep(0.02)  # the daemon is just being started again
for _ in range(int(epochs)):
    for batch in loader:
        out.write(f"{batch.epoch} {' '.join(map(str, batch.records[batch.mask].tolist()))}\\n")
        out.flush()
        time.sleep(0.01)
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_random_lose_nothing(service, pictures, binary, tmp_path, seed):
    chance = random.Random(seed)
    settings = {"batch_size": 4, "size": 8, "shuffle": True, "epochs": EPOCHS, "trainers": TRAINERS}
    daemon = service(pictures(RECORDS), **settings)
    files = (tmp_path / f"seen-{number}" for number in range(1000))

    def trainer():
        command = [sys.executable, "-c", TRAINER, str(daemon.socket), str(next(files)), str(EPOCHS)]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def audit():
        command = [binary, "audit", "train", "--socket-dir", str(daemon.socket.parent)]
        return subprocess.run(command, capture_output=True, text=True).stdout

    def complete():
        return audit().count(f"{RECORDS} of {RECORDS} records accounted for") == EPOCHS

    trainers = [trainer() for _ in range(TRAINERS)]
    try:
        for _ in range(12):
            victim = chance.randrange(TRAINERS)
            what = chance.choice(["trainer", "trainer", "daemon", "both"])
            if what != "daemon":
                trainers[victim].kill()
                trainers[victim].wait()
            if what != "trainer":
                daemon.kill()
                daemon.start()
            if what != "daemon":
                trainers[victim] = trainer()
            # A breath, so that work goes on between the kills.
            time.sleep(chance.uniform(0.0, 0.3))
        wait_until(complete, seconds=120)
    finally:
        for process in trainers:
            process.kill()
            process.wait()
    words = audit()
    assert words.count("checksum equal") == EPOCHS, words
    seen = {epoch: set() for epoch in range(EPOCHS)}
    for file in Path(tmp_path).glob("seen-*"):
        for line in file.read_text().splitlines():
            epoch, *records = map(int, line.split())
            seen[epoch].update(records)
    assert all(records == set(range(RECORDS)) for records in seen.values())
