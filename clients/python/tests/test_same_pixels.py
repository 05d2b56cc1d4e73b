"""The pixels of a record are the same everywhere: any threads, daemons and ranks, after a kill, and in a replay."""

import hashlib
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import forebay
import numpy as np
import pytest
from coordinators import complete
from forebay import recipes
from processes import Daemon, wait_until

pytestmark = pytest.mark.daemon

RECORDS, EPOCHS, SEED = 12, 2, 7
# What published code trains with: colours, warps, blur and erasing in views of several sizes.
IMAGES = recipes.torchvision_train(24, auto_augment="ta_wide", random_erase_prob=0.5)
CROPS = recipes.dinov2(global_crops_size=24, local_crops_size=12, local_crops_number=2)
VIEWS = {"first": CROPS["images"], "second": CROPS["global_2"], "small": CROPS["local_0"]}
NAMES = ("images", *VIEWS)
SHARED = {"transform": IMAGES, "dtype": "float32", "shuffle": True, "seed": SEED, "epochs": EPOCHS}


def digest(pixels):
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def views_of(batch):
    """The SHA-256 of each (record, epoch, view) of a batch."""
    places = [(place, int(batch.records[place])) for place in np.flatnonzero(batch.mask)]
    return {(record, batch.epoch, name): digest(batch[name][place]) for place, record in places for name in NAMES}


def hashes(loader):
    """Those of all batches that the loader still gives."""
    found = {}
    for _ in range(EPOCHS):
        for batch in loader:
            found.update(views_of(batch))
    return found


@pytest.fixture
def expected(jpegs):
    """Those of one Loader with one thread."""
    with forebay.Loader(jpegs, batch_size=3, views=VIEWS, num_threads=1, **SHARED) as loader:
        found = hashes(loader)
    assert len(set(found.values())) == RECORDS * EPOCHS * len(NAMES)
    return found


@pytest.mark.parametrize("threads", [2, 16])
def test_rule_49_pixels_are_the_same_with_any_number_of_threads(jpegs, expected, threads):
    with forebay.Loader(jpegs, batch_size=5, views=VIEWS, num_threads=threads, **SHARED) as loader:
        assert hashes(loader) == expected


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_rule_49_pixels_are_the_same_with_any_world_size(jpegs, expected, world_size):
    found = {}
    for rank in range(world_size):
        lockstep = forebay.Lockstep(4, rank, world_size)
        with forebay.Loader(jpegs, views=VIEWS, sharding=lockstep, **SHARED) as loader:
            found.update(hashes(loader))
    assert found == expected


def configured(binary, folder, source, coordinator):
    """A daemon of a cluster, whose stream has the transforms and views of this file, and its configuration."""
    folder.mkdir(mode=0o700)
    tables = {
        "transform": [step.to_settings() for step in IMAGES],
        "dtype": "float32",
        "lease_size": 3,
        "batch_size": 3,
    }
    tables |= {"source": str(source), "shuffle": True, "seed": SEED, "epochs": EPOCHS}
    tables["views"] = {name: {"transform": [step.to_settings() for step in steps]} for name, steps in VIEWS.items()}
    lines = [f"{key} = {json.dumps(value)}".replace('": ', '" = ') for key, value in tables.items()]
    config = folder / "forebay.toml"
    config.write_text(
        f'[control]\ndir = "{folder}"\n[coordinator]\nendpoint = "{coordinator.address}"\nnode = "{folder.name}"\n'
        # A daemon reads hardly ahead, so that both have something to do.
        '[prefetch]\nthreads = 1\nbudget = "1kb"\n[streams.train]\n' + "\n".join(lines) + "\n"
    )
    return Daemon([binary, "serve", "--config", str(config)], folder / "forebay.sock"), config


def test_rule_49_pixels_are_the_same_from_two_daemons_one_of_which_is_killed(
    binary, jpegs, expected, coordinator, tmp_path
):
    daemons = [configured(binary, tmp_path / name, jpegs, coordinator)[0] for name in ("one", "two")]
    try:
        with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
            loaders = [stack.enter_context(forebay.Loader("stream:train", socket=daemon.socket)) for daemon in daemons]
            parts = [views_of(loader.next()) for loader in loaders]
            # What is in hand may come again, to either trainer.
            daemons[0].kill()
            daemons[0].start()
            parts += pool.map(hashes, loaders)
        assert all(parts[:2])
        for part in parts:
            assert part == {key: expected[key] for key in part}
        assert set().union(*parts) == set(expected)
        wait_until(lambda: complete(coordinator.audit(), RECORDS))
    finally:
        for daemon in daemons:
            daemon.end()


def test_rule_51_pixels_are_the_same_when_they_are_replayed(binary, jpegs, expected, coordinator, tmp_path):
    daemon, config = configured(binary, tmp_path / "one", jpegs, coordinator)
    daemon.end()
    for record in range(0, RECORDS, 5):
        for epoch in range(EPOCHS):
            out = tmp_path / f"{record}-{epoch}"
            out.mkdir()
            at = ["--record", str(record), "--epoch", str(epoch), "--output", out]
            command = [binary, "replay", "--config", config, "--stream", "train", *at]
            subprocess.run(command, check=True, capture_output=True)
            for name in NAMES:
                pixels = np.load(out / f"record-{record}-epoch-{epoch}-{name}.npy")
                assert digest(pixels) == expected[record, epoch, name]
