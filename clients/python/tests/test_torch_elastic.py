"""The example of elastic training: a job whose number of ranks changes in mid-epoch, and what the audit says then."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "elastic.py"
RECORDS = 100
GLOBAL_BATCH = 24


def train(ranks, folder, checkpoint, *arguments):
    """Runs a job, and gives its status and what its ranks have said."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"]
    job = [str(EXAMPLE), str(folder), "--checkpoint", str(checkpoint), *arguments]
    done = subprocess.run([*launcher, *job], text=True, stdout=subprocess.PIPE, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.mark.daemon
@pytest.mark.parametrize(("before", "after"), [(3, 2)])
def test_rule_40_a_job_that_loses_a_node_goes_on_with_other_ranks_and_reads_the_rest_once(
    pictures, tmp_path, before, after
):
    folder, checkpoint = pictures(RECORDS, classes=2), tmp_path / "job.pt"
    status, said = train(before, folder, checkpoint, "--die-at", "3")
    assert (status != 0, said) == (True, [])
    consumed = 2 * GLOBAL_BATCH
    status, said = train(after, folder, checkpoint)
    assert (status, len(said)) == (0, after)
    # The first epoch has three more steps, the second one five.
    assert {rank["steps"] for rank in said} == {3 + 5}
    for epoch, records in ((0, RECORDS - consumed), (1, RECORDS)):
        lines = [line for rank in said for line in rank["audit"] if line[0] == epoch]
        assert sum(delivered for _, delivered, *_ in lines) == records
        assert all((is_complete, repeats) == (True, {}) for *_, is_complete, repeats in lines)
