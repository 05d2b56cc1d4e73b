"""The examples of elastic training: jobs whose number of ranks changes in mid-epoch, and what the audit says then."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from processes import PATIENCE, children, free_port, wait_until

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


def start(example, launch, source, checkpoint, *arguments, **variables):
    """Starts torchrun, on a node without a GPU."""
    launcher = [sys.executable, "-m", "torch.distributed.run", *launch]
    job = [str(EXAMPLES / f"{example}.py"), str(source), "--checkpoint", str(checkpoint), *arguments]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", **variables}
    return subprocess.Popen([*launcher, *job], text=True, stdout=subprocess.PIPE, env=environment)


def lose(torchrun):
    """Kills torchrun and its ranks, as the loss of their node would."""
    for pid in (torchrun.pid, *(rank for rank, _ in children(torchrun.pid))):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ends(torchrun):
    """The status with which torchrun ends, and what its ranks have said."""
    said, _ = torchrun.communicate()
    return torchrun.returncode, [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def train(example, ranks, source, checkpoint, *arguments, **variables):
    """Runs a job on one node, and gives its status and what its ranks have said."""
    launch = ["--standalone", f"--nproc_per_node={ranks}"]
    return ends(start(example, launch, source, checkpoint, *arguments, **variables))


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


def test_rule_40_torchrun_goes_on_by_itself_when_a_node_is_lost(pictures, tmp_path):
    folder, checkpoint, epochs = pictures(RECORDS, classes=2), tmp_path / "job", 60
    whole = steps_of_epoch("elastic")
    launch = ["--nnodes=1:2", "--nproc_per_node=1", "--max-restarts=3", "--rdzv-backend=c10d", "--rdzv-id=job"]
    place = f"--rdzv-endpoint=127.0.0.1:{free_port()}"
    # The first checkpoint is in the middle of an epoch, and long before the job's end.
    every = 10 * whole + 2
    job = (folder, checkpoint, "--epochs", str(epochs), "--every", str(every))
    kept, lost = (start("elastic", [*launch, place, f"--rdzv-conf=is_host={host}"], *job) for host in (1, 0))
    try:
        wait_until(checkpoint.exists, 5 * PATIENCE)
        lose(lost)
        status, said = ends(kept)
    finally:
        for torchrun in (kept, lost):
            lose(torchrun)
            torchrun.wait()
            torchrun.stdout.close()
    assert (status, [rank["rank"] for rank in said]) == (0, [0])
    (rank,) = said
    consumed = epochs * whole - rank["steps"]
    assert (consumed > 0, consumed % every) == (True, 0)
    (first, *others) = rank["audit"]
    assert (first["epoch"], others[-1]["epoch"]) == (consumed // whole, epochs - 1)
    assert first["delivered"] == RECORDS - consumed % whole * GLOBAL_BATCH
    assert {line["delivered"] for line in others} == {RECORDS}
    assert all((line["complete"], line["repeats"]) == (True, {}) for line in rank["audit"])


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
