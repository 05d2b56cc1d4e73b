"""The examples of elastic training: jobs whose number of ranks changes in mid-epoch, and what the audit says then."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RECORDS, GLOBAL_BATCH, EPOCHS = 100, 24, 2
# What each example needs beside PyTorch, and what it does with a last step that is not full.
NEEDS = {"elastic": None, "elastic_lightning": "lightning", "elastic_accelerate": "accelerate"}
DROPS = {"elastic_lightning"}

pytestmark = pytest.mark.daemon


@pytest.fixture(params=NEEDS)
def example(request):
    """An example whose packages are installed."""
    package = NEEDS[request.param]
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; `make test-torch` installs it")
    return request.param


def steps_of_epoch(example):
    """Steps in which an example reads an epoch."""
    full, rest = divmod(RECORDS, GLOBAL_BATCH)
    return full + (rest > 0 and example not in DROPS)


def train(example, ranks, source, checkpoint, *arguments, **variables):
    """Runs a job, and gives its status and what its ranks have said."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"]
    job = [str(EXAMPLES / f"{example}.py"), str(source), "--checkpoint", str(checkpoint), *arguments]
    # Without CUDA, as on the machines that run these tests.
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", **variables}
    done = subprocess.run([*launcher, *job], text=True, stdout=subprocess.PIPE, check=False, env=environment)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_rule_40_a_job_that_loses_a_node_goes_on_with_other_ranks_and_reads_the_rest_once(pictures, tmp_path, example):
    folder, checkpoint = pictures(RECORDS, classes=2), tmp_path / "job"
    status, said = train(example, 3, folder, checkpoint, "--die-at", "3")
    assert (status != 0, said) == (True, [])
    consumed = 2 * GLOBAL_BATCH
    status, said = train(example, 2, folder, checkpoint)
    assert (status, len(said)) == (0, 2)
    assert {rank["steps"] for rank in said} == {EPOCHS * steps_of_epoch(example) - 2}
    for epoch, records in ((0, RECORDS - consumed), (1, RECORDS)):
        lines = [line for rank in said for line in rank["audit"] if line["epoch"] == epoch]
        assert all((line["complete"], line["repeats"]) == (True, {}) for line in lines), lines
        assert sum(line["delivered"] + line["dropped"] for line in lines) == records


def test_rule_40_the_audit_of_one_daemon_has_whole_epochs_whatever_the_numbers_of_ranks_were(
    service, pictures, tmp_path, example
):
    policy = "drop" if example in DROPS else "partial"
    settings = {"size": 32, "shuffle": True, "epochs": EPOCHS, "last_batch_policy": policy}
    folder, checkpoint = pictures(RECORDS, classes=2), tmp_path / "job"
    daemon = service(folder, **settings, assignment="lockstep", global_batch=GLOBAL_BATCH)
    whole = steps_of_epoch(example)
    # The first job is lost after a step that no checkpoint has, the second one after the checkpoint of a whole epoch.
    for ranks, *arguments in ((2, "--die-at", "3"), (3, "--every", str(whole), "--die-at", str(whole + 1))):
        status, said = train(example, ranks, "stream:train", checkpoint, *arguments, XDG_RUNTIME_DIR=str(tmp_path))
        assert (status != 0, said) == (True, [])
    status, said = train(example, 1, "stream:train", checkpoint, XDG_RUNTIME_DIR=str(tmp_path))
    assert (status, [rank["steps"] for rank in said]) == (0, [whole])
    audit = daemon.says("audit")
    _, _, run = audit.partition("all ranks of")
    segments = "2 ranks from step 0 of epoch 0, 3 ranks from step 2 of epoch 0, 1 rank from step 0 of epoch 1"
    assert segments in run, audit
    for epoch in range(EPOCHS):
        (line,) = (line for line in run.splitlines() if f"epoch {epoch}: " in line)
        assert f"{RECORDS} of {RECORDS} records" in line, audit
        assert "checksum equal" in line, audit
