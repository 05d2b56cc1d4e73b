"""Functions in Python and suspects, whose pictures and masks another process decodes (semantics rules 9 and 59)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import forebay
import numpy as np
import pytest
from forebay import transforms
from masked import MASKS, write_masked
from png import write_png
from processes import Daemon

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# Looks at the mask in the picture, and changes both.
CODE = """
import numpy as np

def cut_out(picture, sample):
    seg = sample.columns["seg"]
    if seg is None:
        return None
    picture[seg < 90] = 7
    return picture[:, ::-1], {"seg": np.where(seg < 90, np.uint8(1), seg)[:, ::-1]}
"""
POISON = Path(__file__).parents[3] / "cli" / "tests" / "service" / "poison.c"
# A process that decodes a picture of this width is killed while a file is there.
KILLED = 8519


def columns(daemon):
    """The bytes of each record's picture and masks."""
    made = {}
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        for batch in loader:
            each = [batch.images.tobytes()]
            for name in MASKS:
                each += [batch[name].tobytes(), batch.validity(name).tobytes()]
            made[int(batch.records[0])] = each
        assert loader.quarantine == []
    return made


@pytest.mark.parametrize("is_first", [False, True], ids=["behind a crop", "before it"])
def test_rule_59_functions_get_the_masks_of_suspects_as_those_of_any_other_record(
    is_first, binary, tmp_path, monkeypatch
):
    write_masked(tmp_path)
    (tmp_path / "JPEGImages" / "1.ppm").unlink()
    row = np.arange(KILLED, dtype=np.uint32)
    write_png(tmp_path / "JPEGImages" / "1.png", np.stack([row % 251, row % 83, row % 7], -1)[None].astype(np.uint8))
    write_png(tmp_path / "SegmentationClass" / "1.png", (row % 97)[None].astype(np.uint8), palette=True)
    write_png(tmp_path / "depth" / "1.png", (row * 7 % 60000)[None].astype(np.uint16))
    write_png(tmp_path / "panoptic" / "1.png", np.stack([row % 200, row % 3, row % 2], -1)[None].astype(np.uint8))
    steps, sockets = tmp_path / "steps", tmp_path / "sockets"
    steps.mkdir()
    sockets.mkdir(mode=0o700)
    (steps / "my_suspects.py").write_text(CODE)
    # What kills the daemon is not to kill the processes that call functions.
    interpreter = steps / "interpreter"
    interpreter.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    step = transforms.Python("my_suspects:cut_out")
    flip, crop = transforms.RandomHorizontalFlip(), transforms.RandomResizedCrop(16, scale=(0.5, 1.0))
    transform = [flip, step, crop] if is_first else [crop, flip, step]
    keys = {
        "source": str(tmp_path / "JPEGImages"),
        "batch_size": 1,
        "prefetch_queue_depth": 20,
        "epochs": 1,
        "shuffle": True,
        "masks": MASKS,
        "labels": "none",
        "python": str(interpreter),
        "transform": [each.to_settings() for each in (*transform, transforms.RandomCrop(12))],
    }
    lines = [f"{key} = {json.dumps(value)}".replace('": ', '" = ') for key, value in keys.items()]
    head = f'drain_timeout = "1h"\n[control]\ndir = "{sockets}"\n[coordinator]\npath = "{tmp_path / "state"}"\n'
    config = tmp_path / "forebay.toml"
    config.write_text(head + f'[sources]\npython = ["{steps}"]\n[streams.train]\n' + "\n".join(lines) + "\n")
    command, socket = [binary, "serve", "--config", str(config)], sockets / "forebay.sock"
    daemon = Daemon(command, socket)
    expected = columns(daemon)
    daemon.kill()
    assert sorted(expected) == list(range(6))
    shutil.rmtree(tmp_path / "state")

    library, killing = tmp_path / "poison.so", tmp_path / "killing"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, POISON], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("POISON_FILE", str(killing))
    killing.touch()
    for _death in range(2):
        ended = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)
        assert ended.returncode == -9, ended.stderr.decode()
    killing.unlink()
    log = tmp_path / "log"
    with log.open("w") as said:
        daemon.start(said)
        made = columns(daemon)
        daemon.kill()
    assert "a child process makes suspects" in log.read_text(), log.read_text()
    assert made == expected
