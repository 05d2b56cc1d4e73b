"""Whatever happens to trainers and their daemon, nothing is lost, and each repetition has a cause.

`FOREBAY_TORTURE_SECONDS` is the duration (`make torture`: ten minutes), and `FOREBAY_TORTURE_SEED` the random seed.
"""

import os

import pytest
from torture.world import World

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_whatever_happens_every_record_comes_and_the_audit_names_what_was_repeated(binary, tmp_path, capsys):
    seconds = float(os.environ.get("FOREBAY_TORTURE_SECONDS", "60"))
    seed = int(os.environ.get("FOREBAY_TORTURE_SEED", "1"))
    world = World(binary, tmp_path, seed)
    with capsys.disabled():
        print(f"\n  torture of {seconds:.0f} s with seed {seed} ", end="", flush=True)
    try:
        world.begin()
        world.torture(seconds)
        findings, figures = world.finish()
    finally:
        world.close()
    with capsys.disabled():
        print(f"\n  skipped: a full disk: {world.no_disk}" if world.no_disk else "")
        for language, reason in world.trainers.missing.items():
            print(f"  skipped: trainers in {language}: {reason}")
        for name, count in sorted((world.happened + figures).items()):
            print(f"  {count:8} {name}")
    assert findings == []
