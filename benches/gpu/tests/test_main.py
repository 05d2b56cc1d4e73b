"""Parts that are ended, and files of several calls."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from gpu import __main__ as program
from gpu.results import Results

OPTIONS = argparse.Namespace(pictures=None, results=Path("results"), seconds=1, rounds=1, soak_seconds=1)


def ended(tmp_path, monkeypatch, script, limit):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return program._in_a_process("soak", OPTIONS, [tmp_path / "a.jpg"], limit)


def test_a_part_that_hangs_is_ended_with_what_it_has_started(tmp_path, monkeypatch):
    alive = tmp_path / "alive"
    script = f"(while sleep 0.05; do date >{alive}; done) & wait"
    assert ended(tmp_path, monkeypatch, script, limit=0.5) == "it took more than 0 s"
    assert alive.exists()
    assert not subprocess.run(["pgrep", "-f", str(alive)], capture_output=True).stdout


def test_a_part_that_dies_is_told_and_one_that_ends_is_not(tmp_path, monkeypatch):
    assert ended(tmp_path, monkeypatch, "kill -SEGV $$", limit=30) == "its process has ended with -11"
    assert ended(tmp_path, monkeypatch, "exit 0", limit=30) is None


def test_files_of_several_calls_become_one(tmp_path, monkeypatch, capsys):
    for name, rates in {"hardware_lane": [1.0], "torchvision": [2.0]}.items():
        results = Results.opened("Some GPU", tmp_path / name, {"doctor": ""})
        results.rates(name, rates)
        results.write()
    files = [str(next((tmp_path / name).glob("*.json"))) for name in ("hardware_lane", "torchvision")]
    monkeypatch.setattr(sys, "argv", ["run", "--merge", *files, "--results", str(tmp_path / "all")])
    assert program.main() == 0
    assert ".md" in capsys.readouterr().out
    figures = json.loads(next((tmp_path / "all").glob("*.json")).read_text())["images_per_second"]
    assert (figures["hardware_lane"], figures["torchvision"]) == (1.0, 2.0)
