"""Custom readers: classes of users, which children of the daemon run, as sources of records."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import forebay
import pytest
from processes import private_daemons, wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# Pictures of 8 x 8 with one colour each: that of record n is n. Two shards of 20.
READER = """
class CustomDataReader:
    def __init__(self, bad=None):
        self.bad = None if bad is None else int(bad)

    def create_shards(self):
        return {"even": (0, 20), "odd": (20, 20)}

    def labels(self):
        return [number % 3 for number in range(40)]

    def read_records(self, task):
        for number in range(task.shard.start, task.shard.end):
            if number == self.bad:
                raise OSError("the table has no such row")
            yield b"P6 8 8 255\\n" + bytes([number, 100, 200]) * 64, number % 3
"""


@pytest.fixture
def reader(tmp_path):
    """The file of a reader."""
    file = tmp_path / "reader.py"
    file.write_text(textwrap.dedent(READER))
    return file


def seen(loader):
    """The records of an epoch, checked against their pictures and labels."""
    records = []
    for batch in loader:
        for image, label, record in zip(batch.images, batch.labels, batch.records):
            assert (image[0, 0].tolist(), label) == ([record, 100, 200], record % 3)
            records.append(int(record))
    return sorted(records)


def test_rule_55_other_keys_of_dicts_are_columns_of_batches(tmp_path):
    file = tmp_path / "reader.py"
    body = """
        def get_training_size():
            return 10


        class CustomDataReader:
            def read_records(self, task):
                for number in range(task.shard.start, task.shard.end):
                    picture = b"P6 8 8 255\\n" + bytes([number, 100, 200]) * 64
                    boxes = [[0.0, 0.0, 8.0, 8.0]] * (number % 3)
                    yield {"image": picture, "label": number, "boxes": boxes, "text": str(number)}

            def column_types(self):
                return {"boxes": "f32 [*, 4]"}
    """
    file.write_text(textwrap.dedent(body))
    with forebay.Loader(f"python:{file}?scan=true", batch_size=5, size=8, epochs=1) as loader:
        for batch in loader:
            for place, record in enumerate(batch.records):
                assert batch.boxes[place].tolist() == [[0.0, 0.0, 8.0, 8.0]] * (record % 3)
                assert bytes(batch["text"][place]).decode() == str(record)
                assert batch.labels[place] == record


def children(daemon):
    """Process ids of the readers of a daemon."""
    found = []
    for task in Path(f"/proc/{daemon}/task").iterdir():
        # A thread may end meanwhile. Its children are another thread's then.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += [int(pid) for pid in (task / "children").read_text().split()]
    return found


def test_rule_55_records_of_a_reader_are_delivered_with_their_labels(reader):
    source = f"python:{reader}?records_per_task=8"
    with forebay.Loader(source, batch_size=7, size=8, epochs=2) as loader:
        for _ in range(2):
            assert seen(loader) == list(range(40))
        assert all(epoch.adds_up for epoch in loader.audit())


def test_rule_55_a_record_that_raises_is_quarantined_with_the_exception(reader):
    settings = {"batch_size": 7, "size": 8, "epochs": 1}
    with forebay.Loader(f"python:{reader}?bad=21", on_error="skip", **settings) as loader:
        assert seen(loader) == [record for record in range(40) if record != 21]
        assert [(epoch.quarantined, epoch.adds_up) for epoch in loader.audit()] == [(1, True)]
    words = r'record 21 of "odd".*OSError: the table has no such row'
    with (
        forebay.Loader(f"python:{reader}?bad=21", **settings) as loader,
        pytest.raises(forebay.RecordError, match=words),
    ):
        seen(loader)


def test_rule_55_killed_readers_cost_no_record(reader):
    source = f"python:{reader}?records_per_task=2&workers=2"
    settings = {"batch_size": 2, "size": 8, "epochs": 1, "prefetch_queue_depth": 1}
    with forebay.Loader(source, **settings) as loader:
        (daemon,) = private_daemons()
        records, killed = [], 0
        for batch in loader:
            records.extend(batch.records.tolist())
            for child in children(daemon):
                try:
                    os.kill(child, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
        assert sorted(records) == list(range(40))
        assert killed > 0


def test_rule_55_readers_end_with_a_killed_daemon(reader, trainer):
    code = """
        with forebay.Loader(source, batch_size=4, size=8) as loader:
            next(iter(loader))
            print("ready", flush=True)
            sys.stdin.readline()
    """
    process = trainer(code, source=f"python:{reader}")
    assert process.stdout.readline() == "ready\n"
    (daemon,) = private_daemons(process.pid)
    running = children(daemon)
    assert running
    os.kill(daemon, signal.SIGKILL)
    wait_until(lambda: not any(alive(pid) for pid in running))


def alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_reader_that_cannot_be_used_is_an_error_of_the_dataset(reader):
    with pytest.raises(forebay.DatasetError, match="unexpected keyword argument 'colour'"):
        forebay.Loader(f"python:{reader}?colour=red", batch_size=2, size=8)
    with pytest.raises(forebay.DatasetError, match="cannot be started"):
        forebay.Loader(forebay.Source(f"python:{reader}", python="/nowhere/python"), batch_size=2, size=8)


def test_rule_55_a_service_refuses_a_reader_outside_of_its_folders(binary, reader, tmp_path):
    config = tmp_path / "forebay.toml"
    stream = f'[streams.train]\nsource = "python:{reader}?python={sys.executable}"\nbatch_size = 4\nsize = 8\n'
    sockets = tmp_path / "sockets"
    sockets.mkdir(mode=0o700)
    places = f'[control]\ndir = "{sockets}"\n[coordinator]\npath = "{tmp_path / "state"}"\n'
    config.write_text(places + stream)
    ended = subprocess.run([binary, "serve", "--config", config], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert ended.returncode != 0
    assert b"a service does not run" in ended.stdout
