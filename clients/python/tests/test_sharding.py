"""A client of `forebay.sharding` against a real coordinator: what it is given, and what becomes of it."""

import contextlib
import json
import os
import signal
import threading

import pytest
from coordinators import complete, spans
from forebay import DataShardService, Evicted, Outage, SettingsError, _native
from forebay.errors import ClosedError
from forebay.sharding import IndexShardingClient, RecordIndexService, ShardingClient
from processes import wait_until


def records(client, fetch):
    """Uses single records until the data ends."""
    found = []
    while True:
        try:
            found.append(fetch())
        except StopIteration:
            return found
        client.report_batch_done(1)


def test_a_client_reads_each_epoch_once_and_the_audit_adds_up(client, coordinator):
    reader = client(13, num_epochs=2)
    assert (reader.get_minibatch_count_per_epoch(), reader.get_total_sample_num()) == (2, 26)
    assert spans(reader) == [0, 5, 10] * 2
    assert reader.fetch_shard() is None
    assert complete(coordinator.audit(), 13)
    assert len(coordinator.audit()) == 2


def test_counts_of_records_complete_shards_in_the_order_in_which_they_were_fetched(client):
    reader = client(30)
    first, second = reader.get_task(), reader.get_task()
    assert reader.get_current_task() == first
    assert [reader.report_batch_done(), reader.get_current_task()] == [True, second]
    assert [reader.report_batch_done(n) for n in (2, 2, 1)] == [False, False, True]
    assert reader.get_current_task() is None
    assert not reader.report_batch_done()
    third, fourth = reader.get_task(), reader.get_task()
    assert reader.report_batch_done(task_ids=[fourth.task_id])
    assert reader.get_current_task() == third
    # As DLRover counts: 0 is a batch.
    assert reader.report_batch_done(0)
    assert reader.get_current_task() is None
    reader.get_task(), reader.get_task()
    # More than a shard at once.
    assert reader.report_batch_done(100)
    assert reader.fetch_shard() is None


def test_shards_are_shuffled_and_records_of_text_are(client):
    assert sorted(order := spans(client(500, shuffle=True, dataset_name="shards"))) == list(range(0, 500, 5)) != order
    reader = client(40, shuffle=True, storage_type="text", dataset_name="records")
    records = []
    while shard := reader.fetch_shard():
        assert len(shard.indices) == len(shard) == 5
        records += shard.records
        reader.report_batch_done()
    assert sorted(records) == list(range(40)) != records
    with pytest.raises(SettingsError, match="storage_type"):
        client(40, storage_type="odps")


def test_a_failed_shard_comes_again_and_the_third_failure_is_quarantined(client, coordinator):
    reader = client(10)
    for failure in range(3):
        assert reader.fetch_shard().start == 0
        if failure == 1:
            reader.report_all_task_error("the disk is gone")
        else:
            assert not reader.report_batch_done(2, err_msg="bad zip")
            assert reader.report_batch_done(3)
    assert spans(reader) == [5]
    (epoch,) = coordinator.audit()
    assert (epoch["verdict"], epoch["delivered"], epoch["quarantined"]) == ("adds_up", 5, 5)


def test_a_client_that_is_closed_gives_its_shards_back_at_once(client):
    first, second = client(10), client(10)
    shard = first.fetch_shard()
    first.report_batch_done(2)
    first.close()
    for call in (first.fetch_shard, first.get_shard_checkpoint):
        with pytest.raises(ClosedError):
            call()
    assert shard.start in spans(second)


def test_no_worker_hears_the_end_while_another_one_may_still_die(client, coordinator):
    holder, idle = client(5), client(5)
    holder.fetch_shard()
    found = []
    waiting = threading.Thread(target=lambda: found.append(idle.fetch_shard()))
    waiting.start()
    wait_until(lambda: "worker-1" in coordinator.forebay("status"))
    assert holder.fetch_shard() is None, "it has to use its records up first"
    assert waiting.is_alive()
    with pytest.raises(TimeoutError, match="no shard in time"):
        idle.get_task(timeout=0.01)
    holder.report_batch_done()
    waiting.join()
    assert found == [None]


def test_a_state_is_gone_back_to_and_what_was_out_is_nobody_s(client, coordinator):
    reader, other = client(20), client(20)
    assert reader.fetch_shard().start == 0
    reader.report_batch_done()
    state = json.loads(json.dumps(reader.state_dict()))
    held = other.fetch_shard()
    assert reader.fetch_shard().start == 10
    assert reader.report_batch_done()
    reader.load_state_dict(state, load_id="first")
    assert other.report_batch_done(len(held)), "it is answered, and counted as late"
    assert reader.fetch_shard().start == 5
    # Others that load the same state with the same id change nothing.
    other.load_state_dict(state, load_id="first")
    assert reader.report_batch_done()
    assert spans(other) == [10, 15]
    assert complete(coordinator.audit(), 20)
    with pytest.raises(SettingsError, match="used for another state"):
        reader.load_state_dict(reader.state_dict(), load_id="first")
    with pytest.raises(SettingsError, match="is of dataset 'mnist'"):
        client(20, dataset_name="other").load_state_dict(state)
    with pytest.raises(SettingsError, match="no state of a sharding client"):
        reader.load_state_dict({"version": 2})


def test_a_state_is_small_however_large_the_dataset_is(client):
    reader = client(10**10, batch_size=1000, num_epochs=90)
    for _ in range(3):
        reader.fetch_shard()
    reader.report_batch_done()
    state = reader.state_dict()
    assert len(json.dumps(state)) < 1000
    reader.load_state_dict(state)
    assert reader.fetch_shard().start == 1000


def test_a_checkpoint_of_dlrover_is_imported(client):
    reader = client(20)
    theirs = {"dataset_name": "mnist", "todo": [[10, 15]], "doing": [[0, 5]], "epoch": 1, "splitter": "table"}
    assert reader.restore_shard_from_checkpoint(json.dumps(theirs))
    assert sorted(spans(reader)) == [0, 10]
    shuffled = {**theirs, "todo": [[10, 15, [3, 1, 2, 4, 5]]]}
    assert [reader.restore_shard_from_checkpoint(text) for text in (json.dumps(shuffled), "", "{")] == [False] * 3
    reader.reset_dataset()
    assert spans(reader) == [0, 5, 10, 15]


def test_a_worker_whose_name_is_taken_is_told_what_to_do(client):
    first = client(10, worker="same")
    client(10, worker="same")
    with pytest.raises(Evicted, match=r"its argument `worker`\."):
        first.fetch_shard()


def test_a_dataset_that_is_known_as_another_one_is_refused(client):
    client(10)
    with pytest.raises(SettingsError, match="was registered as something else"):
        client(11)
    for arguments in ({"batch_size": 0}, {"batch_size": -1}, {"num_minibatches_per_shard": 1 << 70}):
        with pytest.raises(SettingsError, match=r"batch_size|negative or too large"):
            client(10, dataset_name="wrong", **arguments)


def test_where_the_coordinator_is_must_be_said_and_is_tried(tmp_path, monkeypatch):
    monkeypatch.delenv("FOREBAY_COORDINATOR", raising=False)
    with pytest.raises(SettingsError, match="FOREBAY_COORDINATOR"):
        ShardingClient("mnist", 5, 1, 20)
    with pytest.raises(SettingsError, match="there is no such argument"):
        ShardingClient("mnist", 5, 1, 20, address="http://127.0.0.1:1")
    with pytest.raises(SettingsError, match="belong together"):
        ShardingClient("mnist", 5, 1, 20, coordinator="https://a:1", tls_ca="/ca", tls_key="/key")
    with pytest.raises(SettingsError, match="cannot be used: No such file"):
        ShardingClient("mnist", 5, 1, 20, coordinator="http://127.0.0.1:1", token_file=tmp_path / "none")


def test_rule_25_a_token_is_shown_to_a_coordinator_that_asks_for_one(coordinator, client, tmp_path):
    token = tmp_path / "token"
    token.write_text("a-token-of-the-sharding-tests")
    token.chmod(0o600)
    coordinator.kill()
    coordinator.ask_for(token)
    coordinator.start()
    assert spans(client(10, token_file=token)) == [0, 5]


def test_an_outage_is_told_when_the_caller_has_a_time_limit(client, coordinator):
    reader = client(10)
    coordinator.kill()

    def may_ask_again():
        # A shard that was fetched before the outage is given first, and the outage may be noticed only later.
        with contextlib.suppress(TimeoutError):
            reader.get_task(timeout=0.2)

    with pytest.raises(Outage):
        wait_until(may_ask_again)
    coordinator.start()
    assert spans(reader) == [0, 5]


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_report_is_made_once(client, coordinator, caplog):
    reader = client(10)
    first, second = reader.get_task(), reader.get_task()
    coordinator.kill()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        reader.report_batch_done(task_ids=[first.task_id])
    coordinator.start()
    assert reader.get_current_task() == second
    assert reader.report_batch_done()
    assert complete(coordinator.audit(), 10)
    assert "too late" not in caplog.text


def test_a_restore_drops_records_that_were_fetched_ahead(client, coordinator):
    reader = client(40, kind=IndexShardingClient)
    state = reader.state_dict()
    assert [reader.fetch_sample_index() for _ in range(7)] == list(range(7))
    reader.load_state_dict(state)
    assert records(reader, reader.fetch_sample_index) == list(range(40))
    assert complete(coordinator.audit(), 40)
    # After the end too.
    reader.load_state_dict(state)
    assert reader.fetch_sample_index() == 0


def test_the_services_of_elasticdl_have_their_names_here(client, coordinator):
    class Reader:
        def get_training_size(self):
            return 23

    service = client(Reader().get_training_size, kind=DataShardService, shuffle_shards=True)
    assert sorted(spans(service)) == [0, 5, 10, 15, 20]
    assert complete(coordinator.audit(), 23)
    single = client(10, kind=RecordIndexService, dataset_name="other")
    assert records(single, single.fetch_record_index) == list(range(10))


def test_the_order_of_an_epoch_is_looked_up_position_by_position():
    whole = _native.shuffled(1000, 7, 3, 0, 1, 1000)
    assert sorted(whole) == list(range(1000)) != whole
    assert _native.shuffled(1000, 7, 3, 5, 100, 10) == whole[5::100]
    assert _native.shuffled(1000, 7, 4, 0, 1, 1000) != whole
    assert _native.shuffled(1000, 7, 3, 0, 1, 0) == []
    for start, step, count in ((1000, 1, 1), (0, 500, 3), (0, 1 << 63, 3)):
        with pytest.raises(SettingsError, match="no such positions"):
            _native.shuffled(1000, 7, 3, start, step, count)
