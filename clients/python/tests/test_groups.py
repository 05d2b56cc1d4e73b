"""Trainers of several groups on one stream, as processes: each group gets every batch."""

import json

import forebay
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# Tells the epoch and the own records of each batch, and waits after the batch of this number.
READER = """
loader = forebay.Loader("stream:train", socket=socket, **json.loads(arguments))
print("attached", flush=True)
count = 0
for _ in range(3):
    for batch in loader:
        print(batch.epoch, *batch.records[batch.mask].tolist(), flush=True)
        count += 1
        if count == int(waits_after):
            input()
"""


@pytest.fixture
def reader(trainer):
    """Starts a process that reads three epochs; it has attached then."""

    def start(daemon, waits_after=0, **arguments):
        process = trainer(READER, socket=daemon.socket, arguments=json.dumps(arguments), waits_after=waits_after)
        assert process.stdout.readline() == "attached\n"
        return process

    return start


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def by_epoch(lines):
    """The records of each epoch, sorted."""
    epochs = {}
    for line in lines:
        epoch, *records = map(int, line.split())
        epochs.setdefault(epoch, []).extend(records)
    return {epoch: sorted(records) for epoch, records in epochs.items()}


def reads_until_it_is_told(loader):
    """Reads on until the group is told what it has missed."""
    while True:
        try:
            loader.next(timeout=60)
        except forebay.MissedBatches as missed:
            return missed


def test_rule_43_a_trainer_is_killed_and_both_groups_have_whole_epochs(service, pictures, reader):
    daemon = service(pictures(40), batch_size=4, size=8, shuffle=True, epochs=3, groups="each")
    steady = reader(daemon, waits_after=1)
    steady_lines = [steady.stdout.readline()]
    killed = reader(daemon, waits_after=4, group="small", join="epoch")
    go_on(steady)
    small_lines = [killed.stdout.readline() for _ in range(4)]
    killed.kill()
    killed.wait()
    # The last one was in its hand.
    small_lines.pop()
    small_lines += reader(daemon, group="small").stdout.readlines()
    steady_lines += steady.stdout.readlines()
    whole = list(range(40))
    assert by_epoch(steady_lines) == {0: whole, 1: whole, 2: whole}
    assert by_epoch(small_lines) == {1: whole, 2: whole}, "it came in the middle of epoch 0"
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        assert all(epoch.adds_up and epoch.complete for epoch in loader.audit())


def test_rule_42_two_loaders_of_one_process_are_two_groups(service, pictures):
    daemon = service(pictures(12), batch_size=4, size=8, epochs=2, groups="each")
    early = forebay.Loader("stream:train", socket=daemon.socket, config={"stream": {"groups": "each"}})
    held = early.next()
    late = forebay.Loader("stream:train", socket=daemon.socket, join="epoch")
    whole = held.records.tolist() + [record for batch in early for record in batch.records.tolist()]
    assert whole == list(range(12)), "nothing of the first epoch waits for the late one"
    first, second = early.next(), late.next()
    assert (first.epoch, second.epoch) == (1, 1)
    assert first.records.tolist() == second.records.tolist() == [0, 1, 2, 3]
    late.close()
    early.close()


def test_rule_42_a_group_is_of_a_stream_that_gives_each_group_every_batch(service, pictures):
    source = pictures(8)
    daemon = service(source, batch_size=4, size=8)
    with pytest.raises(forebay.SettingsError, match='group means nothing to it: leave it out, or set groups = "each"'):
        forebay.Loader("stream:train", socket=daemon.socket, group="small")
    with pytest.raises(forebay.SettingsError, match='groups: is "each", but the stream has the default'):
        forebay.Loader("stream:train", socket=daemon.socket, config={"stream": {"groups": "each"}})
    for arguments, words in [
        ({"group": "small"}, "group='small': only this process reads the source"),
        ({"join": "epoch"}, "join='epoch': only this process reads the source"),
        ({"join": "later"}, "join='later': give 'next' or 'epoch'"),
        ({"group": ""}, "group='': give the name of a group"),
    ]:
        with pytest.raises(forebay.SettingsError, match=words):
            forebay.Loader(source, batch_size=4, size=8, **arguments)


def test_rule_44_a_group_is_told_once_which_batches_it_missed_when_its_daemon_died(service, pictures):
    daemon = service(pictures(80), batch_size=4, size=8, epochs=1, groups="each")
    fast, slow = (forebay.Loader("stream:train", socket=daemon.socket, group=group) for group in ("fast", "slow"))
    # It may have come after the first batches were offered.
    held = slow.next()
    # Each call acknowledges the batch before. The last one is still in hand.
    for _ in range(held.records[0] // 4 + 3):
        batch = fast.next()
    assert batch.epoch == held.epoch == 0
    # The audit has every receipt that was sent.
    fast.audit()
    daemon.kill()
    daemon.start()
    missed = reads_until_it_is_told(slow)
    assert "missed 4 records of epoch 0" in str(missed)
    assert (missed.epoch, missed.from_batch, missed.records) == (0, missed.to_batch, 4)
    # Both continue. The ring may be full of batches that the fast one has not taken yet.
    for loader in (fast, fast, fast, slow):
        assert loader.next(timeout=60).valid == 4
    fast.close()
    slow.close()
