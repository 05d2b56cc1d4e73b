"""What the programs of `benches/` share."""

import os
import time

import pytest
from measuring.limit import OverError, within
from measuring.machine import cores_and_load, processor
from measuring.pictures import JPEG, pictures


def test_what_takes_too_long_is_ended_and_what_does_not_goes_on():
    with pytest.raises(OverError, match="it took more than 0 s"), within(0.02):
        time.sleep(60)
    with within(0.02):
        pass
    # The alarm is off.
    time.sleep(0.05)


def test_pictures_are_files_with_the_given_ends_in_the_order_of_their_paths(tmp_path):
    for name in ("b/2.JPG", "b/1.jpeg", "a/3.png", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "folder.jpg").mkdir()
    named = [str(path.relative_to(tmp_path)) for path in pictures(tmp_path)]
    assert named == ["b/1.jpeg", "b/2.JPG"]
    assert [path.name for path in pictures(tmp_path, (*JPEG, ".png"))] == ["3.png", "1.jpeg", "2.JPG"]


def test_the_machine_is_named():
    assert processor()
    assert cores_and_load().startswith(f"{os.cpu_count()} cores, load ")
