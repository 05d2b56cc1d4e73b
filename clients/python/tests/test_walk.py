"""Random calls of a trainer, compared with a model. `FOREBAY_WALK_CALLS` is the number of calls."""

import os
import random

import pytest
from walk import walk

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

CALLS = int(os.environ.get("FOREBAY_WALK_CALLS", "400"))
SEED = int(os.environ.get("FOREBAY_WALK_SEED", "1"))


def test_whatever_a_trainer_calls_and_whatever_dies_its_history_is_that_of_the_model():
    made, seed = 0, SEED
    while made < CALLS:
        calls, _, finding = walk(seed, random.Random(seed).randrange(5, 150))
        assert not finding, finding
        made, seed = made + calls, seed + 1
