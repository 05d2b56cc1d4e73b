"""ElasticDL's own client, unchanged, against `forebay coordinate --elasticdl-listen`.

The package `elasticai_api` and what it imports are in the folder that FOREBAY_ELASTICDL names. Its versions go with no
others, so only the workers of these tests import it, each in a process of its own.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from coordinators import Coordinator, complete
from processes import free_port, wait_until

LIBRARIES = os.environ.get("FOREBAY_ELASTICDL", "")
pytestmark = pytest.mark.skipif(
    not (Path(LIBRARIES) / "elasticai_api").is_dir(),
    reason="elasticai_api is not installed: the package index lacks it",
)

# What each worker begins with.
BEGIN = """
import json, sys
from elasticai_api.common.data_shard_service import DataShardService, RecordIndexService
def tell(*words):
    print(json.dumps(words), flush=True)
def hear():
    sys.stdin.readline()
def train(service, batch):
    while shard := service.fetch_shard():
        for start in range(shard.start, shard.end, batch):
            service.report_batch_done(min(batch, shard.end - start))
        tell(shard.start, shard.end)
"""


class Site(Coordinator):
    """A coordinator and its workers. They are killed with the test."""

    def __init__(self, binary, folder):
        super().__init__(binary, folder, f"unix:{folder}/ledgers.sock")
        self.workers = []
        # The client's gRPC sends an authority over Unix sockets that no server in Rust takes.
        self.master = f"127.0.0.1:{free_port()}"
        self.start()

    def start(self, *arguments):
        """Starts the coordinator, or starts it again."""
        super().start("--elasticdl-listen", self.master, *arguments)

    def worker(self, number, code):
        """Starts a worker with ElasticDL's client."""
        worker = Worker(number, code, self.master)
        self.workers.append(worker)
        return worker


class Worker:
    """A process with ElasticDL's client, which says lists in JSON."""

    def __init__(self, number, code, master):
        environment = {
            **os.environ,
            "PYTHONPATH": LIBRARIES,
            "DLROVER_MASTER_ADDR": master,
            "WORKER_ID": str(number),
            "WORKER_TYPE": "worker",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + textwrap.dedent(code)],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def says(self):
        """The next list that it says; None when it has ended well."""
        line = self.process.stdout.readline()
        if not line:
            assert self.process.wait() == 0
            return None
        return json.loads(line)

    def rest(self):
        """All that it says until it ends."""
        return list(iter(self.says, None))

    def tell(self):
        """Lets it go on."""
        print(file=self.process.stdin, flush=True)


@pytest.fixture
def site(binary, tmp_path):
    """A coordinator without workers."""
    site = Site(binary, tmp_path)
    yield site
    for process in [site.process, *(worker.process for worker in site.workers)]:
        process.kill()
        process.wait()


def test_a_worker_gets_each_shard_of_each_epoch_once_and_then_none(site):
    worker = site.worker(0, "train(DataShardService(4, num_epochs=2, dataset_size=26, num_minibatches_per_shard=2), 4)")
    shards = [[start, min(start + 8, 26)] for start in range(0, 26, 8)]
    assert worker.rest() == shards + shards
    assert complete(site.audit(), 26)
    assert len(site.audit()) == 2


def test_shuffled_records_come_by_their_indices_and_each_epoch_has_all(site):
    code = """
        service = RecordIndexService(4, num_epochs=2, dataset_size=40, shuffle=True, num_minibatches_per_shard=2)
        try:
            while True:
                tell(service.fetch_record_index())
                service.report_batch_done(1)
        except StopIteration:
            tell("end")
    """
    said = site.worker(0, code).rest()
    assert said.pop() == ["end"]
    records = [record for (record,) in said]
    # The client may ask for a shard when it has not reported the one before. Until the coordinator has learned that,
    # such a call looks as if a reply had been lost, and the shard is given once more. The ledger's own test allows this
    # four times for clients that read ahead by one.
    again = sum(records.count(record) - 2 for record in range(40))
    assert all(2 <= records.count(record) <= 4 for record in range(40))
    assert again in range(0, 4 * 8 + 1, 8)
    # Whichever epoch has a shard twice, these many from either end have a whole epoch in them.
    whole = 40 + again
    assert set(records[:whole]) == set(records[-whole:]) == set(range(40))
    assert records[:40] != list(range(40))
    assert complete(site.audit(), 40)


def test_a_killed_worker_s_shard_goes_to_the_other_one(site):
    site.kill()
    site.start("--elasticdl-task-timeout", "2s")
    service = "service = DataShardService(4, num_epochs=1, dataset_size=64, num_minibatches_per_shard=2)\n"
    victim = site.worker(0, service + "shard = service.fetch_shard()\ntell(shard.start, shard.end)\nhear()")
    lost = victim.says()
    victim.process.kill()
    shards = site.worker(1, service + "train(service, 4)").rest()
    # On a busy machine, a shard of the other one may take too long as well.
    assert {tuple(shard) for shard in shards} == {(start, start + 8) for start in range(0, 64, 8)}
    assert lost in shards
    assert complete(site.audit(), 64)
    assert site.audit()[0]["possibly_repeated"]["lease_expired"] >= 8


def test_workers_go_on_when_the_coordinator_was_killed_in_mid_epoch(site):
    code = """
        service = DataShardService(4, num_epochs=2, dataset_size=32, num_minibatches_per_shard=2)
        shard = service.fetch_shard()
        tell(shard.start, shard.end)
        hear()
        service.report_batch_done(4)
        service.report_batch_done(4)
        train(service, 4)
    """
    worker = site.worker(0, code)
    first = worker.says()
    site.kill()
    site.start()
    worker.tell()
    shards = [first, *worker.rest()]
    assert shards == [[start, start + 8] for start in range(0, 32, 8)] * 2
    assert complete(site.audit(), 32)
    assert len(site.audit()) == 2
    assert all(not any(epoch["possibly_repeated"].values()) for epoch in site.audit())


def test_a_worker_that_says_nothing_of_the_dataset_waits_until_another_one_does(site):
    early = site.worker(1, "service = DataShardService(4)\ntell('up')\ntrain(service, 4)")
    assert early.says() == ["up"]
    late = site.worker(0, "train(DataShardService(4, num_epochs=3, dataset_size=40, num_minibatches_per_shard=1), 4)")
    assert len(early.rest()) + len(late.rest()) == 30
    assert complete(site.audit(), 40)


def test_a_checkpoint_is_gone_back_to(site):
    code = """
        service = DataShardService(4, num_epochs=1, dataset_size=40, num_minibatches_per_shard=2, shuffle=True)
        for number in range(2):
            shard = service.fetch_shard()
            service.report_batch_done(8)
            tell(shard.start, shard.end)
        state = service.get_shard_checkpoint()
        tell(service.get_current_epoch())
        train(service, 4)
        tell(service.restore_shard_from_checkpoint(state), service.restore_shard_from_checkpoint("{"))
        train(service, 4)
    """
    said = site.worker(0, code).rest()
    done, (epoch,), rest, restored, again = said[:2], said[2], said[3:6], said[6], said[7:]
    assert (epoch, restored) == (1, [True, False])
    assert rest == again
    assert sorted(done + rest) == [[start, start + 8] for start in range(0, 40, 8)]
    assert complete(site.audit(), 40)


def test_an_error_returns_the_shard_and_the_third_one_quarantines_it(site):
    code = """
        service = DataShardService(4, num_epochs=1, dataset_size=12, num_minibatches_per_shard=1)
        for number in range(3):
            shard = service.fetch_shard()
            tell(shard.start, shard.end)
            service.report_all_task_error("out of memory")
        train(service, 4)
        service.reset_dataset()
        train(service, 4)
    """
    worker = site.worker(0, code)
    said = [worker.says() for _ in range(5)]
    assert said == [[0, 4]] * 3 + [[4, 8], [8, 12]]
    assert worker.rest() == [[0, 4], [4, 8], [8, 12]], "after the reset"
    assert complete(site.audit(), 12)


def test_a_call_that_is_cut_off_leaves_no_task_behind(site):
    service = "service = DataShardService(4, num_epochs=1, dataset_size=4, num_minibatches_per_shard=1)\n"
    holder = site.worker(
        0, service + "service.fetch_shard()\ntell('has')\nhear()\nservice.report_batch_done(4)\ntell('done')"
    )
    assert holder.says() == ["has"]
    waiting = site.worker(1, service + "tell('asks')\ntell(service.fetch_shard() is None)")
    assert waiting.says() == ["asks"]
    wait_until(lambda: "worker-1" in site.forebay("status"))
    waiting.process.kill()
    holder.tell()
    assert holder.rest() == [["done"]]
    assert complete(site.audit(), 4)
