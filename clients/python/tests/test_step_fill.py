"""How far records fill steps whose pictures have different sizes, as `forebay status` and `forebay top` tell it."""

import json
import math
import os
import subprocess

import pytest
from patched import PATCHES, SIDE, grid_of
from patched import spoil as spoiled
from sized import RECORDS, own

pytestmark = pytest.mark.daemon


@pytest.fixture
def told(binary):
    """What a command says of the only stream of this process."""

    def ask(*command):
        done = subprocess.run([binary, *command, "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (daemon,) = [each for each in json.loads(done.stdout)["private"] if each["loader_pid"] == os.getpid()]
        return daemon["streams"][0]

    return ask


def test_patches_are_filled_by_the_tokens_of_records_without_copies(sized, told):
    sized = sized()
    spoiled(sized, 3)
    with sized.loader(buckets=None, patches=PATCHES, on_error="replace") as loader:
        filled = room = 0
        for batch in loader:
            length = batch.images.shape[1]
            filled += sum(math.prod(grid_of(sized.sizes[record], SIDE, length)) for record in own(batch))
            room += len(batch) * length
        assert 0 < filled < room
        assert told("status")["fill"] == {"unit": "patches", "filled": filled, "room": room}
        top = told("top", "--once", "--every", "10ms")
        assert (top["tokens_per_second"], top["padding"]) == (0, None), "no batch was made meanwhile"


def test_places_of_buckets_are_filled_by_records_and_not_by_copies(sized, told):
    sized = sized()
    with sized.loader() as loader:
        room = sum(len(batch) for batch in loader)
        assert room > RECORDS, "the last step of the last bucket has copies"
        assert told("status")["fill"] == {"unit": "places", "filled": RECORDS, "room": room}
        assert told("top", "--once", "--every", "10ms")["tokens_per_second"] is None


def test_ragged_batches_are_filled_by_records_and_not_by_empty_places(sized, told):
    with sized().loader(buckets="ragged") as loader:
        room = sum(len(batch) for batch in loader)
        assert told("status")["fill"] == {"unit": "pictures", "filled": RECORDS, "room": room}


def test_pictures_of_one_size_have_no_such_figures(sized, told):
    with sized().loader(buckets=None, size=8) as loader:
        list(loader)
        assert told("status")["fill"] is None
        assert told("top", "--once", "--every", "10ms")["padding"] is None
