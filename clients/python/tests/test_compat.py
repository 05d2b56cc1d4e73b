"""What each release wrote and said still holds: see compat/README.md."""

import grp
import json
import lzma
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import forebay
import pytest
from compat import lost, scene, surface

HERE = Path(__file__).resolve().parent / "compat"
RELEASES = sorted(path.parent.name for path in HERE.glob("*/names.json"))
# A page that has stayed the same is run once.
PAGES = {path.read_text(): str(path.relative_to(surface.ROOT)) for path in sorted(HERE.glob("*/pages/*.md"))}

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture(params=RELEASES)
def release(request):
    """The folder of a release."""
    return HERE / request.param


@pytest.fixture
def names(release):
    """The names that a release had."""
    return json.loads((release / "names.json").read_text())


@pytest.fixture
def carried_on(release, tmp_path):
    """A service of this build on the ledger of a release that was killed in the middle of its epochs."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    ledger = state / "ledger.redb"
    ledger.write_bytes(lzma.decompress((release / "ledger.redb.xz").read_bytes()))
    ledger.chmod(0o600)
    source = scene.dataset(tmp_path / "pictures", scene.DAMAGED)
    service = scene.Service(tmp_path, (release / "streams.toml").read_text(), source)
    yield service
    service.end()


def test_there_are_releases_and_pages():
    assert RELEASES
    assert PAGES


@pytest.mark.parametrize("page", PAGES.values())
def test_blocks_of_an_older_page_run(page):
    command = [sys.executable, surface.ROOT / "scripts" / "readme.py", page]
    # `forebay` is that of the environment that runs the tests.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout
    assert "passed: " in done.stdout


def test_public_names_of_python_are_there_and_are_called_as_before(names):
    assert lost.names(names["python"], surface.python()) == []


def test_commands_and_their_options_are_there(names):
    assert lost.commands(names["commands"], surface.commands()) == []


def test_numbers_of_stored_and_sent_fields_mean_the_same(names):
    assert lost.messages(names["messages"], surface.messages()) == []


def test_tables_of_the_ring_are_the_same_as_long_as_its_version_is(names):
    assert lost.ring(names["ring"], surface.ring()) == []


def test_the_example_configuration_is_accepted(release):
    assert "no mistakes" in surface.said("config", "--check", str(release / "forebay.toml"))


def test_every_key_is_known_and_its_default_the_same(release, tmp_path):
    old = surface.settings((release / "forebay.toml").read_text())
    assert lost.settings(old, surface.settings(surface.said("config", "--example"))) == []
    source = str(scene.dataset(tmp_path / "pictures"))
    # This machine need not have what the example names.
    group = grp.getgrall()[0].gr_name
    at_hand = {"source": source, "root": source, "nvjpeg": str(tmp_path / "nvjpeg"), "unix_group": group}
    (tmp_path / "nvjpeg").touch()
    refused = {}
    for key, said in old.items():
        table, _, name = key.rpartition(".")
        tables = {"": {}, "streams.train": {"source": json.dumps(source), "batch_size": "4", "size": "8"}}
        if name == "transform":
            del tables["streams.train"]["size"]
        tables.setdefault(table, {})[name] = json.dumps(at_hand[name]) if name in at_hand else said["value"]
        file = tmp_path / "forebay.toml"
        file.write_text(
            "".join(
                (f"[{table}]\n" if table else "") + "".join(f"{name} = {value}\n" for name, value in keys.items())
                for table, keys in tables.items()
            )
        )
        done = subprocess.run([scene._command.binary(), "config", "--check", file], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            refused[key] = done.stderr
    renamed = {key: refused.pop(key, "") for key in lost.RENAMED_KEYS if key in old}
    assert refused == {}
    for key, stderr in renamed.items():
        new = lost.RENAMED_KEYS[key].rpartition(".")[2]
        assert f'{key}: is called "{new}" now; rename the key.' in stderr


def test_a_ledger_in_the_middle_of_its_epochs_goes_on(release, names, carried_on):
    before = json.loads((release / "delivered.json").read_text())
    trainers = scene.Trainers(carried_on, list(before))
    told = carried_on.fields()
    assert lost.fields({command: names["fields"][command] for command in told}, told) == []
    for name, loader in trainers.loaders.items():
        batches = []
        while count := trainers.take_epoch(name):
            batches.append(count)
        if "/" in name:
            untouched = scene.EPOCHS - len(before[name])
            assert batches[len(batches) - untouched :] == [len(loader)] * untouched, "shards have equally many batches"
    delivered = {}
    for told in (before, trainers.delivered):
        for name, epochs in told.items():
            for epoch, records in epochs.items():
                delivered.setdefault((name.partition("/")[0], epoch), Counter()).update(records)
    streams = {name.partition("/")[0] for name in before}
    assert delivered == {(s, str(e)): Counter(scene.GOOD) for s in streams for e in range(scene.EPOCHS)}, "each once"
    audits = [epoch for stream in carried_on.json("audit")["streams"] for epoch in stream["epochs"]]
    assert [epoch["verdict"] for epoch in audits] == ["adds_up"] * scene.EPOCHS * len(before)
    assert sum(epoch["possibly_repeated"]["daemon_died"] for epoch in audits) > 0, "batches were in hand"
    (bad,) = trainers.loaders["dynamic"].quarantine
    assert (bad.record, bad.epochs) == (scene.DAMAGED, (0, 1))
    trainers.close()


def test_a_state_in_the_middle_of_an_epoch_goes_on(release, tmp_path):
    source = scene.dataset(tmp_path / "pictures")
    for kept in json.loads((release / "states.json").read_text()):
        whole = scene.order(source, kept["given"])
        assert whole == {"records": kept["records"], "pixels": kept["pixels"]}, kept["given"]
        with forebay.Loader(source, epochs=scene.EPOCHS, **scene.arguments(kept["given"])) as loader:
            _first, second = ([record for batch in loader for record in scene.own(batch)] for _ in range(2))
            loader.load_state_dict(kept["state"])
            rest = [record for batch in loader for record in scene.own(batch)]
            assert kept["seen"] + rest == second, kept["given"]
            audit = loader.audit()[-1]
            assert (audit.delivered, audit.complete) == (len(second), True), kept["given"]


def test_metrics_have_their_names_types_and_labels(names, carried_on, gpu, tmp_path):
    trainers = scene.Trainers(carried_on, scene.TRAINERS)
    told = carried_on.metrics("forebay_consumers", "forebay_cache_records")
    trainers.close()
    told.update(scene.lanes(tmp_path, scene.dataset(tmp_path / "plain"), gpu))
    assert lost.metrics(names["metrics"], told) == []


def test_fields_of_commands_without_a_daemon_are_there(names, tmp_path):
    told = surface.fields_of_machine(scene.dataset(tmp_path / "pictures"))
    assert lost.fields({command: names["fields"][command] for command in told}, told) == []


def test_every_loss_is_found():
    old = {"names": {"f": ["a", "*", "b=1"], "C": ["x"], "v": None}, "bases": {"E": ["ValueError"]}}
    assert lost.names(old, old) == []
    grown = {"names": {"f": ["a", "c=2", "*", "b=1", "d=3"], "C": ["x", "**more"], "v": ["n"]}, "bases": old["bases"]}
    assert lost.names(old, grown) == []
    new = {"names": {"f": ["b=2", "*", "e"], "C": None}, "bases": {}}
    assert lost.names(old, new) == [
        "v",
        "f: its arguments were (a), and are (b=2)",
        "f: b=1 is gone",
        "f: e is required",
        "C: it cannot be called",
        "E is no ValueError",
    ]
    assert lost.commands({"a": ["[P]", "--q"], "b": []}, {"a": ["<P>", "--q="]}) == [
        "a --q",
        "a: its arguments were [P], and are <P>",
        "b",
    ]
    keys = {"k": {"value": "1", "default": True}, "l": {"value": "2", "default": False}}
    assert lost.settings(keys, {"k": {"value": "2"}, "l": {"value": "3"}}) == ["k: the default was 1, and is 2"]
    assert lost.settings(keys, {"k": {"value": "1"}}) == ["l"]
    old_key, new_key = next(iter(lost.RENAMED_KEYS.items()))
    assert lost.settings({old_key: keys["k"]}, {new_key: {"value": "2"}}) == [f"{new_key}: the default was 1, and is 2"]
    assert lost.settings({old_key: keys["k"]}, {old_key: {"value": "1"}}) == [new_key]
    assert lost.metrics({"m": ["gauge", "a"], "n": ["gauge"]}, {"m": ["gauge", "b"]}) == ["m gauge a", "n gauge"]
    assert lost.messages({"M.1": "bool a", "M.2": "bool b"}, {"M.1": "bool c"}) == [
        "M.1 was bool a, and is bool c",
        "M.2 was bool b, and is None",
    ]
    assert lost.messages({"M.1": "uint64 shard_size"}, {"M.1": "uint64 lease_size"}) == []
    assert lost.messages({"M.1": "uint64 shard_size"}, {"M.1": "bool lease_size"}) != []
    ring = {"protocol": 5, "tables": {"Ack": ["kind"]}}
    assert lost.ring(ring, {"protocol": 5, "tables": {}}) == ["Ack"]
    assert lost.ring(ring, {"protocol": 6, "tables": {}}) == []
