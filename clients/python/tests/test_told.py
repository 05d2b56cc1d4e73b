"""What a user is told of bad records, of failures that the program catches, and of a run that is over."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap

import forebay
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def damaged(folder, numbers):
    for number in numbers:
        (folder / f"{number:05}.ppm").write_bytes(b"P6 8 8 255\n")
    return folder


def words(caplog):
    return [record.getMessage() for record in caplog.records if record.name.startswith("forebay")]


SHARDINGS = {
    "dynamic": {"batch_size": 4},
    "shard": {"batch_size": 4, "sharding": forebay.Shard(shard_id=0, num_shards=1)},
    "lockstep": {"sharding": forebay.Lockstep(4, rank=0, world_size=1)},
}


def done_with(on_error, sharding):
    """What becomes of a bad record (rule 7). Where places never shift, each place shows a picture."""
    if sharding == "dynamic":
        return "left out" if on_error == "skip" else "replaced, or left out if their batch had no good one"
    return "replaced"


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_bad_records_are_told_once_and_counted_at_the_end_of_each_epoch(pictures, caplog, on_error, sharding):
    folder = damaged(pictures(17), [0, 3, 4, 16])
    with caplog.at_level(logging.INFO, logger="forebay"):
        with forebay.Loader(folder, size=8, on_error=on_error, epochs=3, **SHARDINGS[sharding]) as loader:
            for epoch in range(3):
                assert sum(int(batch.mask.sum()) for batch in loader) == 13
                told = words(caplog)
                assert [each for each in told if "epoch" in each and "bad records were" in each] == [
                    f"epoch {done}: 4 bad records were {done_with(on_error, sharding)}" for done in range(epoch + 1)
                ]
        first = [each for each in words(caplog) if each.startswith("a bad record is ")]
    assert len(first) == 1
    assert ".ppm" in first[0]
    done = done_with(on_error, sharding)
    assert first[0].startswith(f"a bad record is {done.split(',')[0]}")
    assert ("mask is False" in first[0]) == done.startswith("replaced")
    assert ("left out if its batch has no good one" in first[0]) == ("," in done)


@pytest.mark.parametrize("on_error", ["skip", "replace"])
@pytest.mark.parametrize("sharding", ["shard", "lockstep"])
def test_each_rank_is_told_of_the_bad_records_of_its_own_part(pictures, caplog, sharding, on_error):
    folder = damaged(pictures(24), [1, 2, 9, 10, 22])
    counts = []
    for rank in range(2):
        part = forebay.Shard(shard_id=rank, num_shards=2) if sharding == "shard" else None
        part = part or forebay.Lockstep(6, rank=rank, world_size=2)
        sizes = {"batch_size": 3} if sharding == "shard" else {}
        caplog.clear()
        caplog.set_level(logging.INFO, logger="forebay")
        with forebay.Loader(folder, size=8, on_error=on_error, epochs=1, sharding=part, **sizes) as loader:
            missing = sum(int((~batch.mask).sum()) for batch in loader)
        told = [each for each in words(caplog) if "bad record" in each]
        assert not any("left out" in each for each in told), "places never shift"
        noun = "1 bad record was" if missing == 1 else f"{missing} bad records were"
        assert not missing or f"epoch 0: {noun} replaced" in told
        assert len(told) == (2 if missing else 0)
        counts.append(missing)
    assert sum(counts) == 5


def test_nothing_is_told_of_a_dataset_without_bad_records(pictures, caplog):
    caplog.set_level(logging.INFO, logger="forebay")
    with forebay.Loader(pictures(9), batch_size=4, size=8, on_error="skip", epochs=2) as loader:
        assert [sum(batch.valid for batch in loader) for _ in range(2)] == [9, 9]
    assert not [each for each in words(caplog) if "bad record" in each or "delivered" in each]


@pytest.mark.parametrize("fault", ["record", "source"])
def test_an_exception_that_is_caught_leaves_nothing_on_standard_error(pictures, tmp_path, fault):
    folder = damaged(pictures(5), [2]) if fault == "record" else tmp_path / "nowhere"
    program = """
    import sys, forebay
    try:
        with forebay.Loader(sys.argv[1], batch_size=2, size=8, epochs=1) as loader:
            for batch in loader:
                pass
    except forebay.Error as error:
        print("caught", type(error).__name__)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout.startswith("caught "), result
    assert result.stderr == ""


def test_a_run_that_is_over_says_so_and_what_to_do(pictures, caplog, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = pictures(6)
    settings = {"batch_size": 4, "size": 8, "epochs": 2, "run": "over"}
    with forebay.Loader(folder, **settings) as loader:
        assert [sum(batch.valid for batch in loader) for _ in range(2)] == [6, 6]
    assert not [each for each in words(caplog) if "delivered" in each]
    caplog.set_level(logging.INFO, logger="forebay")
    with forebay.Loader(folder, **settings) as loader:
        assert list(loader) == []
    (told,) = [each for each in words(caplog) if "have been delivered" in each]
    assert 'run "over" is complete: all 2 epochs' in told
    assert 'another name as "run"' in told
