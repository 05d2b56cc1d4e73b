"""Functions in Python on several nodes of a run that have shards or ranks (semantics rules 41 and 59)."""

import hashlib
import json
import sys

import forebay
import numpy as np
import pytest
from forebay import transforms
from processes import Daemon

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

STEPS = [transforms.RandomResizedCrop(16), transforms.Python("node_steps:draw"), transforms.RandomHorizontalFlip()]
CODE = "def draw(picture, sample):\n    picture[0] = sample.rng().integers({})\n"
SETTINGS = {"shuffle": True, "seed": 4, "epochs": 1}


def node(binary, folder, source, coordinator, code, **settings):
    """A daemon of a cluster with a function of its own file, whose node has the name of the folder."""
    folder.mkdir(mode=0o700)
    (folder / "node_steps.py").write_text(code)
    keys = {"source": str(source), "transform": [step.to_settings() for step in STEPS], **SETTINGS, **settings}
    lines = [f"{key} = {json.dumps(value)}".replace('": ', '" = ') for key, value in keys.items()]
    config = folder / "forebay.toml"
    config.write_text(
        f'[control]\ndir = "{folder}"\n[sources]\npython = ["{folder}", "{sys.prefix}"]\n'
        f'[coordinator]\nendpoint = "{coordinator.address}"\nnode = "{folder.name}"\n'
        "[streams.train]\n" + "\n".join([*lines, f'python = "{sys.executable}"']) + "\n"
    )
    return Daemon([binary, "serve", "--config", str(config)], folder / "forebay.sock")


def hashes(loader):
    """Those of the pictures, by record."""
    found = {}
    for batch in loader:
        for place in np.flatnonzero(batch.mask):
            pixels = np.ascontiguousarray(batch.images[place]).tobytes()
            found[int(batch.records[place])] = hashlib.sha256(pixels).hexdigest()
    return found


WAYS = {
    "shards": ({"num_shards": 2, "batch_size": 2}, lambda number: forebay.Shard(number, 2)),
    "ranks": ({"assignment": "lockstep", "global_batch": 4}, lambda number: forebay.Lockstep(4, number, 2)),
}


@pytest.mark.parametrize("way", WAYS)
def test_rule_59_shards_and_ranks_of_several_nodes_have_the_same_functions(
    binary, jpegs, coordinator, tmp_path, monkeypatch, way
):
    settings, part = WAYS[way]
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "node_steps.py").write_text(CODE.format(256))
    monkeypatch.syspath_prepend(str(alone))
    with forebay.Loader(jpegs, transform=STEPS, batch_size=2, **SETTINGS) as loader:
        expected = hashes(loader)
    one, other, two = (
        node(binary, tmp_path / name, jpegs, coordinator, code, **settings)
        for name, code in [("one", CODE.format(256)), ("other", CODE.format(255)), ("two", CODE.format(256))]
    )
    try:
        with forebay.Loader("stream:train", socket=one.socket, sharding=part(0)) as first:
            with pytest.raises(forebay.AttachError) as error:
                forebay.Loader("stream:train", socket=other.socket, sharding=part(1))
            said = str(error.value)
            assert "the function node_steps:draw in a file with the SHA-256 sum" in said, said
            assert 'on node "one", which reads another shard or rank, and node "other"' in said, said
            with forebay.Loader("stream:train", socket=two.socket, sharding=part(1)) as second:
                found = hashes(first) | hashes(second)
        assert found == expected
    finally:
        for daemon in (one, other, two):
            daemon.end()
