"""Processes with clients of `forebay.sharding`, some of which are killed, and a coordinator that is killed."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap

import pytest
from coordinators import complete, spans
from forebay import ForkError
from forebay.sharding import IndexShardingClient

# What a worker process begins with.
BEGIN = """
import json, sys
from forebay.sharding import *
def tell(*words):
    print(json.dumps(words), flush=True)
def hear():
    sys.stdin.readline()
def train(client, batch=5):
    while shard := client.fetch_shard():
        tell(shard.start, shard.end)
        for start in range(shard.start, shard.end, batch):
            client.report_batch_done(min(batch, shard.end - start))
"""


@pytest.fixture
def worker(coordinator):
    """Starts worker processes that say lists in JSON."""
    running = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + textwrap.dedent(code)],
            env={**os.environ, "FOREBAY_COORDINATOR": coordinator.address},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def says(process):
    """The next list that a worker says."""
    line = process.stdout.readline()
    assert line, f"the worker has ended with {process.wait()}"
    return json.loads(line)


def rest(process):
    """All that it says until it ends well."""
    said = [json.loads(line) for line in process.stdout]
    assert process.wait() == 0
    return said


def tell(process):
    """Lets it go on."""
    print(file=process.stdin, flush=True)


def test_a_killed_worker_s_shard_goes_to_the_other_one_and_the_audit_names_it(worker, coordinator):
    coordinator.kill()
    coordinator.start("--lease-ttl", "2s")
    made = "client = ShardingClient('mnist', 5, num_epochs=1, dataset_size=40, num_minibatches_per_shard=2)\n"
    victim = worker(made + "shard = client.fetch_shard()\ntell(shard.start, shard.end)\nhear()")
    lost = says(victim)
    victim.send_signal(signal.SIGKILL)
    said = rest(worker(made + "train(client)\nclient.close()"))
    # On a busy machine, a shard of the other one may come again as well.
    assert {tuple(shard) for shard in said} == {(start, start + 10) for start in range(0, 40, 10)}
    assert lost in said
    assert complete(coordinator.audit(), 40)
    (epoch,) = coordinator.audit()
    assert epoch["possibly_repeated"]["lease_expired"] >= 10


def test_two_workers_share_the_shards_of_all_epochs_and_no_record_is_missing_or_twice(worker, coordinator):
    code = "train(ShardingClient('mnist', 5, num_epochs=3, dataset_size=203, num_minibatches_per_shard=1))"
    said = [shard for process in [worker(code), worker(code)] for shard in rest(process)]
    shards = [[start, min(start + 5, 203)] for start in range(0, 203, 5)]
    assert sorted(said) == sorted(shards * 3)
    assert complete(coordinator.audit(), 203)
    assert not any(any(epoch["possibly_repeated"].values()) for epoch in coordinator.audit())


def test_workers_go_on_when_the_coordinator_was_killed_in_mid_epoch(worker, coordinator):
    code = """
        client = ShardingClient('mnist', 5, num_epochs=2, dataset_size=40, num_minibatches_per_shard=2)
        shard = client.fetch_shard()
        tell(shard.start, shard.end)
        hear()
        tell("asks")
        client.report_batch_done(10)
        train(client)
    """
    process = worker(code)
    first = says(process)
    coordinator.kill()
    tell(process)
    assert says(process) == ["asks"], "it waits for the coordinator now; an outage is not the end of the data"
    coordinator.start()
    said = [first, *rest(process)]
    assert said == [[start, start + 10] for start in range(0, 40, 10)] * 2
    assert complete(coordinator.audit(), 40)
    assert len(coordinator.audit()) == 2
    assert not any(any(epoch["possibly_repeated"].values()) for epoch in coordinator.audit())


def test_a_worker_that_gives_no_size_waits_for_one_that_does(worker, client):
    early = worker("client = ShardingClient('mnist', 5)\ntell('knows')\ntrain(client)")
    late = client(20)
    assert says(early) == ["knows"]
    late.close()
    assert len(rest(early)) == 4


def test_a_wait_ends_by_a_signal_and_loses_no_shard(worker):
    code = """
        import os, signal, threading
        client = ShardingClient('mnist', 5, num_epochs=1, dataset_size=10, num_minibatches_per_shard=1, worker='one')
        other = ShardingClient('mnist', 5, num_epochs=1, dataset_size=10, num_minibatches_per_shard=1, worker='two')
        client.fetch_shard(), other.fetch_shard()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            client.fetch_shard()
        except KeyboardInterrupt:
            tell("interrupted")
        other.close()
        client.report_batch_done()
        train(client)
    """
    said = rest(worker(code))
    assert said[0] == ["interrupted"]
    assert said[1] in ([0, 5], [5, 10])
    assert len(said) == 2


def test_a_forked_child_cannot_use_its_parent_s_client(client):
    reader = client(10)
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (reader.fetch_shard, reader.report_batch_done, reader.get_shard_checkpoint, reader.reset_dataset):
            try:
                call()
            except ForkError:
                refused += 1
        reader.close()
        del reader
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    assert spans(reader) == [0, 5], "nothing has happened to the parent's"
    with pytest.raises(TypeError, match="make one in each process"):
        pickle.dumps(reader)


def test_forked_processes_fetch_single_records_of_a_client(client, coordinator):
    reader = client(40, kind=IndexShardingClient, shuffle=True, storage_type="text", num_workers=2)
    answer, told = os.pipe()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.close(answer)
            try:
                while True:
                    os.write(told, b"%d " % reader.fetch_sample_index())
            except StopIteration:
                os._exit(0)
        children.append(child)
    os.close(told)
    with os.fdopen(answer) as pipe:
        text = ""
        while part := pipe.read(1):
            text += part
            if part == " ":
                # As after training on it.
                reader.report_batch_done(1)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert sorted(map(int, text.split())) == list(range(40))
    assert complete(coordinator.audit(), 40)
    with pytest.raises(StopIteration):
        reader.fetch_sample_index()
