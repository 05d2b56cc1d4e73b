"""What is written, merged and judged."""

import json
import time

import pytest
from gpu.lanes import _check, told
from gpu.results import NOT_RUN, AbsentError, Results

CONDITIONS = {"doctor": "GPU 0", "load": "0"}
BENCH = """hardware on GPU 0: 900 pictures
cpu: 100 pictures
GPU 0: 176 MiB taken for decoding at most
500 pictures/s (1000 in 2.0 s)
processor: 3.00 s, 1.50 cores
"""


def opened(folder, **named):
    return Results.opened("Some GPU", folder, CONDITIONS, **named)


def read(results):
    return json.loads(results.file(".json").read_text())


def test_every_figure_is_on_disk_when_it_is_made(tmp_path):
    results = opened(tmp_path)
    with results.attempt("hardware_lane"):
        results.rates("hardware_lane", [2.0, 3.0, 1.0])
    assert read(results)["images_per_second"]["hardware_lane"] == 2.0
    assert read(results)["reasons"]["gpu_ring"] == NOT_RUN


def test_what_raises_or_takes_too_long_is_absent_with_the_reason_and_the_next_one_runs(tmp_path):
    results = opened(tmp_path)
    with results.attempt("torchvision"):
        raise AbsentError("there is none")
    with results.attempt("gpu_ring"):
        raise KeyError("a")
    with results.attempt("host_ring", seconds=0.05):
        time.sleep(5)
    reasons = read(results)["reasons"]
    assert reasons["torchvision"] == "there is none"
    assert reasons["gpu_ring"] == "KeyError: 'a'"
    assert reasons["host_ring"] == "OverError: it took more than 0 s"
    assert not results.failures


def test_where_ours_are_required_only_peers_may_be_absent(tmp_path):
    results = opened(tmp_path, required=True)
    results.absent("torchvision", "none")
    results.absent("gpu_ring", "none")
    assert list(results.failures) == ["gpu_ring"]


def test_a_later_call_adds_to_what_an_earlier_one_has_written_and_takes_its_failures_back(tmp_path):
    first = opened(tmp_path)
    first.rates("hardware_lane", [90.0])
    first.failed("soak", "memory grew")
    first.absent("hybrid_lane", "broken")
    first.write()
    second = opened(tmp_path)
    with second.attempt("soak"):
        second.rates("hardware_bare", [100.0])
    with second.attempt("hybrid_lane"):
        second.rates("hybrid_lane", [5.0])
    figures = read(second)
    assert figures["images_per_second"]["hardware_lane"] == 90.0
    assert not figures["failures"]
    assert "hybrid_lane" not in figures["reasons"]
    (row,) = [row for row in figures["targets"] if row["target"] == "hardware_lane / hardware_bare"]
    assert (row["value"], row["met"]) == (0.9, True)


def test_a_target_that_is_missed_is_shown_and_fails_nothing(tmp_path):
    results = opened(tmp_path)
    results.rates("hardware_lane", [80.0])
    results.rates("hardware_bare", [100.0])
    page = results.write().read_text()
    assert "| hardware_lane / hardware_bare | at least 0.9 | 0.8 | **no** |" in page
    assert "failed" not in page


def test_a_lane_that_leaves_pictures_to_the_cpu_has_no_rate():
    row = told(BENCH)
    assert (row["rate"], row["cores"], row["gpu_mib"]) == (500.0, 1.5, 176)
    assert row["shares"] == {"hardware on GPU 0": 900, "cpu": 100}
    with pytest.raises(AbsentError, match="900 of 1000"):
        _check(row, "hardware")
    _check(row, "hardware,cpu")
    _check({**row, "shares": {"hardware on GPU 0": 1000, "cpu": 0}}, "hardware")
    with pytest.raises(AbsentError):
        _check({**row, "shares": {"hardware-single on GPU 0": 1000}}, "hardware")
