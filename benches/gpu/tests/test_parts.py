"""Every part on the fake GPU, in seconds: what will run once on a real one is code that has run."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gpu import dali, lanes, parts
from gpu.task import Lengths

ROOT = Path(__file__).resolve().parents[3]
TESTS = Path(__file__).resolve().parent
FAKE = "libforebay_fake_gpu.so"


def _built(variable, *paths):
    named = [os.environ[variable]] if variable in os.environ else []
    found = next(
        (path for path in [*named, *(ROOT / "target/debug" / path for path in paths)] if Path(path).exists()), None
    )
    if found is None:
        pytest.skip(f"cargo has not built {paths[0]}; {variable} names it")
    return str(found)


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """Runs a part, and gives what it has written; all go into the same files."""
    Image = pytest.importorskip("PIL.Image")  # noqa: N806
    folder = tmp_path_factory.mktemp("gpu")
    pictures = folder / "pictures"
    pictures.mkdir()
    for number in range(6):
        picture = Image.effect_noise((64 + number, 48), 90).resize((96, 64)).convert("RGB")
        picture.save(pictures / f"{number}.jpg", subsampling=number % 3)
    fake = _built("FOREBAY_FAKE_GPU", f"deps/{FAKE}", FAKE)
    paths = [TESTS.parent, TESTS, TESTS / "stub", *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    environment = {
        **os.environ,
        "FOREBAY_BIN": _built("FOREBAY_BIN", "forebay"),
        "FOREBAY_CUDA_DRIVER": fake,
        "FOREBAY_NVJPEG": fake,
        "PYTHONPATH": ":".join(map(str, paths)),
    }

    def run(part):
        command = [sys.executable, TESTS / "short.py", part, pictures, folder / "results"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        (figures,) = (folder / "results").glob("*.json")
        assert figures.with_suffix(".md").exists()
        return json.loads(figures.read_text())

    run.environment, run.pictures = environment, pictures
    return run


def _knob(name):
    """Its number, as the fake counts them."""
    source = (ROOT / "cuda/fakes/src/dial.rs").read_text().split("pub enum Knob {")[1].split("\n}")[0]
    variants = [line.strip().rstrip(",") for line in source.splitlines() if line.strip()[:1].isupper()]
    return variants.index(name)


def _needs(*modules):
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    return pytest.mark.skipif(bool(missing), reason=f"this Python has no {' and no '.join(missing)}")


def test_a_run_has_what_the_sanitizer_says(measured, tmp_path):
    stand_in = tmp_path / "compute-sanitizer"
    stand_in.write_text("#!/bin/sh\n[ $2 = memcheck ] || exit 99\necho '========= ERROR SUMMARY: 0 errors'\n")
    stand_in.chmod(0o755)
    environment = {**measured.environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "gpu", "--part", "probe", "--pictures", measured.pictures, "--results", tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    (written,) = tmp_path.glob("*.json")
    figures = json.loads(written.read_text())
    assert done.returncode == 1, done.stdout
    assert sorted(figures["failures"]) == ["initcheck of doctor"]
    assert [row["told"] for row in figures["tables"]["compute_sanitizer"]][::2] == ["ERROR SUMMARY: 0 errors"] * 2


def test_a_lane_that_is_off_by_more_than_its_test_allows_decodes_for_measurements_alone(measured):
    wrong = {**measured.environment, "FOREBAY_FAKE_KNOBS": f"{_knob('Wrong')}=1"}
    command = [measured.environment["FOREBAY_BIN"], "bench", measured.pictures, "--lanes", "hardware", "--seconds", "1"]
    refused = subprocess.run(command, env=wrong, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "it decodes" in refused.stderr
    wrong["FOREBAY_UNTESTED_LANES"] = "1"
    assert "pictures/s" in subprocess.check_output(command, env=wrong, text=True)


def test_the_parts_of_two_calls_end_within_eleven_minutes_of_a_loan():
    calls = [[name for name, part in parts.PARTS.items() if part.call == call] for call in (1, 2)]
    assert calls == [["tests", "bare", "lanes", "rings", "kills", "pixels"], ["dali", "peers", "training"]]
    limits = [sum(parts.PARTS[name].limit for name in call) + parts.LOOK for call in calls]
    assert sum(limits) <= parts.LOAN
    assert max(limits) < 10 * 60, "a command there may take no longer"


def test_what_a_part_measures_fits_its_limit():
    lengths = Lengths()
    lanes_measured = (len(lanes.LANES) + 1) * lengths.rounds + 1
    # A command takes a second or two beside what it measures.
    assert lanes_measured * (lengths.seconds + 2) <= parts.PARTS["lanes"].limit
    settings = len(dali.LOADS) * len(dali.THREADS)
    by_turns = 2 * len(dali.KINDS) * lengths.rounds
    assert settings * (lengths.seconds + 2) + by_turns * (lengths.seconds + 2) <= parts.PARTS["dali"].limit


def test_the_tests_of_lanes_and_kernel_are_told_line_by_line(measured):
    figures = measured("tests")
    assert not figures["failures"]
    assert len(figures["tables"]["tests"]) > 10
    targets = {row["target"]: row["met"] for row in figures["targets"]}
    assert targets["surfaces used again, wrong of 200"] is True
    assert targets["kernel beside its twin, levels of 255"] is True


@_needs("forebay", "PIL")
def test_every_lane_has_a_rate_of_its_own_and_the_cpus_pixels(measured):
    for part in ("bare", "lanes", "pixels"):
        figures = measured(part)
    assert not figures["failures"]
    rates = figures["images_per_second"]
    assert all(rates[name] for name in rates if name.endswith("_lane") or name in ("hardware_bare", "lanes_sum"))
    assert figures["cores"]["hardware_lane"] > 0
    assert {row["worst"] for row in figures["tables"]["pixels"]} == {0}
    assert [row["worst"] < 1e-4 for row in figures["tables"]["draws"]] == [True] * 8
    assert figures["tables"]["sheet"]


@_needs("forebay", "torch")
def test_rings_have_rates_copies_and_steps_of_training_and_kills_lose_nothing(measured):
    for part in ("rings", "kills", "training"):
        figures = measured(part)
        assert not figures["failures"]
    assert all(figures["images_per_second"][name] for name in ("host_ring", "host_ring_pinned", "gpu_ring"))
    assert len(figures["tables"]["copies"]) == 3
    assert len(figures["tables"]["training"]) == 10, figures["reasons"]
    assert figures["tables"]["kills"][-2]["twice"] >= 0


@_needs("forebay", "torch")
def test_peers_stand_beside_the_gpu_ring_of_whole_pictures(measured):
    figures = measured("peers")
    rates = figures["images_per_second"]
    assert rates["gpu_ring_resized"], figures["reasons"]
    assert rates["torchvision"], figures["reasons"]
    assert rates["torchvision_decode"]
    assert rates["nvimagecodec"] is None
    assert "nvidia" in figures["reasons"]["nvimagecodec"]


@_needs("forebay", "torch")
def test_dali_and_streams_of_ours_take_turns_with_processor_seconds(measured):
    figures = measured("dali")
    rates = figures["images_per_second"]
    assert all(rates[name] for name in ("dali", "dali_train", "gpu_ring_eval", "gpu_ring_train")), figures["reasons"]
    rows = figures["tables"]["dali"]
    assert [row["name"] for row in rows[-4:]] == ["DALI", "ours"] * 2
    assert all(row["cpu_seconds_per_thousand"] >= 0 for row in rows)


def test_a_soak_tells_growth_and_leaves_out_memory_that_nobody_counts(measured):
    figures = measured("soak")
    # So short a soak ends before it is warm, and its host's memory may grow.
    assert set(figures["failures"]) <= {"soak"}
    (growth,) = figures["tables"]["soak_growth"]
    assert growth["host_mib"] is not None
