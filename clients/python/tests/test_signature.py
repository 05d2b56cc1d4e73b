"""A Loader's arguments are made from the daemon's keys. What older versions had is refused with what to give."""

import dataclasses
import inspect
import json
import subprocess

import forebay
import pytest
from forebay import call, foreign

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

SIGNATURE = inspect.signature(forebay.Loader).parameters
# The arguments of version 0.1 and later that are in another place now, and what has them.
MOVED = {
    **dict.fromkeys(
        ("labels", "columns", "masks", "mask_fill", "min_visible", "annotated"), "give targets=Targets({}=...)"
    ),
    **dict.fromkeys(("index", "root"), "give Source(source, {}=...) as the first argument"),
    "source_options": "give Source(source, NAME=...) as the first argument, with each option by its name",
    "weights": "give a dict from source to weight as the first argument",
    "assignment": 'give sharding=Shard(...), Lockstep(...) or "dynamic"',
    "shard_id": "give sharding=Shard(shard_id, num_shards)",
    "num_shards": 'give sharding=Shard(shard_id, num_shards), or sharding="dynamic" in place of num_shards=1',
    **dict.fromkeys(("stick_to_shard", "pad_last_batch"), "give sharding=Shard(shard_id, num_shards, {}=...)"),
    "global_batch": "give sharding=Lockstep(global_batch)",
    **dict.fromkeys(("rank", "world_size"), "give sharding=Lockstep(global_batch, {}=...)"),
    "mixing_per_batch": "give mixing=Mixing(transform, per_batch=True)",
    "random_shuffle": "give shuffle",
    "fast": "give reducing_gap=2.0",
    "shard_size": 'give config={{"stream": {{"lease_size": ...}}}}, or the daemon of a stream lease_size in its '
    "[streams.NAME] table",
    **dict.fromkeys(
        ("groups", "group_timeout", "slow", "evict_after", "read_timeout", "epoch_end_timeout", "storage_timeout"),
        'give config={{"stream": {{"{0}": ...}}}}, or the daemon of a stream {0} in its [streams.NAME] table',
    ),
    **dict.fromkeys(
        ("lanes", "pixel_limit", "byte_limit"),
        'give config={{"decode": {{"{0}": ...}}}}, or the daemon of a stream {0} in its [decode] table',
    ),
}


@pytest.fixture(scope="module")
def keys(binary):
    """The keys of a stream, by name."""
    told = subprocess.run([binary, "config", "--schema"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {key["name"]: key for key in json.loads(told)["stream"]}


def of(keys, home):
    """The names of the keys that are in this place."""
    return {name for name, key in keys.items() if key["home"] == home}


def test_a_training_script_decides_on_at_most_41_arguments():
    # 40, and `patches`, which is to `buckets` what these are to `size`.
    assert len(SIGNATURE) <= 41, sorted(SIGNATURE)


def test_the_signature_is_one_that_editors_can_show():
    kinds = {parameter.kind for name, parameter in SIGNATURE.items() if name != "source"}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in SIGNATURE.values())
    # Editors believe what a decorator's annotations say that it gives.
    decorator = inspect.signature(call.remember_given)
    assert decorator.return_annotation == decorator.parameters["init"].annotation


def test_every_key_has_one_place_in_python(keys):
    own = {"source", "targets", "sharding", "group", "join", "writable", "socket", "wait", "config"}
    assert set(SIGNATURE) - own == of(keys, "Loader")
    for home in ("Targets", "Shard", "Lockstep"):
        assert {field.name for field in dataclasses.fields(getattr(forebay, home))} == of(keys, home)
    source = inspect.signature(forebay.Source).parameters
    assert {name for name, each in source.items() if each.kind is each.KEYWORD_ONLY} == of(keys, "Source")
    # What is neither an argument nor a field is in `config`, or is a service's.
    assert {name for name, key in keys.items() if key["in_table"]} - of(keys, "other") <= set().union(
        *(of(keys, home) for home in ("Loader", "Targets", "Source", "Shard", "Lockstep", "config", "service"))
    )


def test_the_docstrings_have_every_setting_in_the_order_of_the_signatures():
    def entries(text, head):
        body = inspect.cleandoc(text).split(f"\n{head}:\n")[1].split("\n\n")[0].splitlines()
        return [line.strip().split(":")[0] for line in body if line.startswith("    ") and line[4] != " "]

    assert entries(forebay.Loader.__init__.__doc__, "Args") == list(SIGNATURE)
    for group in (forebay.Targets, forebay.Shard, forebay.Lockstep):
        assert entries(group.__doc__, "Attributes") == [field.name for field in dataclasses.fields(group)]


def test_rule_26_the_daemon_itself_has_the_defaults_of_the_signature(keys, pictures, service):
    defaults = {name: each.default for name, each in SIGNATURE.items() if each.default not in (None, each.empty)}
    daemon = service(pictures(4), batch_size=4, size=8)
    with forebay.Loader("stream:train", socket=daemon.socket, **defaults) as attached:
        assert attached.next().valid == 4
    flags = [name for name, value in defaults.items() if isinstance(value, bool) and name in keys]
    assert len(flags) > 2
    for name in flags:
        value = str(not defaults[name]).lower()
        with pytest.raises(forebay.SettingsError, match=f"{name}: is {value}, but the stream has"):
            forebay.Loader("stream:train", socket=daemon.socket, **{name: not defaults[name]})


@pytest.mark.parametrize("name", MOVED)
def test_an_argument_of_an_older_version_is_refused_with_what_to_give(name):
    with pytest.raises(TypeError) as raised:
        forebay.Loader("/data", batch_size=4, size=8, **{name: 1})
    assert str(raised.value) == f"Loader() has no argument {name!r}: {MOVED[name].format(name)}"


def test_every_argument_that_has_moved_is_tested():
    assert set(MOVED) == {*foreign._MOVED, "random_shuffle"}
    assert not set(MOVED) & set(SIGNATURE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"targets": {"labels": "none"}}, r"targets=.*give forebay\.Targets\(\.\.\.\)"),
        ({"sharding": "static"}, "sharding='static': give \"dynamic\", forebay.Shard"),
        ({"sharding": forebay.Shard(shard_id=1)}, "num_shards is missing"),
        ({"config": {"lanes": ["cpu"]}}, "give a dict of sections"),
        ({"config": {"stream": {"seed": 3}}}, "seed is an argument of the Loader"),
        ({"config": {"stream": {"labels": "none"}}}, "labels is an argument of the Loader"),
        ({"config": {"stream": {"reads_timeout": 3}}}, 'reads_timeout: is not a key. Did you mean "read_timeout"'),
    ],
)
def test_a_group_of_another_kind_is_refused(pictures, arguments, words):
    with pytest.raises(forebay.SettingsError, match=words):
        forebay.Loader(pictures(4), batch_size=4, size=8, **arguments)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"decode": {"pixels_limit": 3}}, r'decode\.pixels_limit: is not a key. Did you mean "pixel_limit"\?'),
        ({"rings": {"pages": "small"}}, r'rings: is not a key. Did you mean "ring"\?'),
        ({"control": {"group": "trainers"}}, r'control\.group: is called "unix_group" now; rename the key\.'),
        ({"streams": {"train": {}}}, r'streams: a Loader\'s own daemon has none; give "stream" instead\.'),
    ],
)
def test_settings_that_the_own_daemon_refuses_are_told_at_its_first_start(
    pictures, binary, tmp_path, monkeypatch, config, words
):
    starts, counting = tmp_path / "starts", tmp_path / "counting"
    counting.write_text(f'#!/bin/sh\necho start >>"{starts}"\nexec "{binary}" "$@"\n')
    counting.chmod(0o700)
    monkeypatch.setenv("FOREBAY_BIN", str(counting))
    told = f"^There is a mistake in config, an argument of the Loader:\n  {words}$"
    with pytest.raises(forebay.SettingsError, match=told):
        forebay.Loader(pictures(4), batch_size=4, size=8, config=config)
    assert starts.read_text() == "start\n"


def test_a_stream_s_key_under_its_old_name_is_refused_in_config(pictures):
    with pytest.raises(forebay.SettingsError, match='shard_size: is called "lease_size" now; rename the key'):
        forebay.Loader(pictures(4), batch_size=4, size=8, config={"stream": {"shard_size": 64}})


def test_the_sections_of_the_own_daemon_are_adopted(pictures):
    config = {"decode": {"pixel_limit": 16}, "stream": {"read_timeout": "5s"}}
    with (
        forebay.Loader(pictures(4), batch_size=4, size=8, config=config) as loader,
        pytest.raises(forebay.RecordError, match="pixel"),
    ):
        loader.next()
