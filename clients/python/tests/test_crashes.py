"""Forks, signals and kills, with real processes."""

import json
import logging
import os
import signal
import threading

import forebay
import pytest
from processes import PATIENCE, alive, private_daemons, wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def own(batch):
    return batch.records[batch.mask].tolist()


def test_a_forked_child_is_refused_and_leaves_its_parent_alone(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        batch = loader.next()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for use in (loader.next, loader.state_dict, batch.ack):
                    with pytest.raises(forebay.ForkError, match="forked child"):
                        use()
                assert batch.images[1, 0, 0, 0] == 1
                loader.close()
                del batch
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert own(batch) + [record for batch in loader for record in own(batch)] == list(range(12))
        assert loader.audit()[0].adds_up


class _Continues(logging.Handler):
    """Lets a stopped process continue as soon as the log has a line."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.lines = pid, []

    def emit(self, record):
        self.lines.append(record.getMessage())
        os.kill(self.pid, signal.SIGCONT)


def test_rule_11_a_trainer_is_told_that_its_daemon_does_not_answer(pictures):
    with forebay.Loader(pictures(40), batch_size=2, size=8, epochs=1) as loader:
        read = own(loader.next())
        (daemon,) = private_daemons()
        continues = _Continues(daemon)
        logging.getLogger("forebay").addHandler(continues)
        try:
            for what, act in (("a state of the run", loader.state_dict), ("a batch", lambda: list(loader))):
                continues.lines.clear()
                os.kill(daemon, signal.SIGSTOP)
                got = act()
                # A read that was stopped with the daemon is told as well.
                told = next((line for line in continues.lines if line.startswith(f"waiting for {what} for 1")), "")
                assert f"; the daemon (process {daemon}) does not answer" in told, continues.lines
        finally:
            os.kill(daemon, signal.SIGCONT)
            logging.getLogger("forebay").removeHandler(continues)
        assert len(got) == 19
        assert read == [0, 1]
        assert loader.audit()[0].adds_up


def test_a_forked_child_may_make_a_loader_of_its_own(pictures):
    folder = pictures(8)
    with forebay.Loader(folder, batch_size=4, size=8) as loader:
        loader.next()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with forebay.Loader(folder, batch_size=8, size=8, epochs=1) as own_loader:
                    code = 0 if [own(batch) for batch in own_loader] == [list(range(8))] else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_ctrl_c_and_timeouts_end_a_wait_and_nothing_is_lost(service, pictures, trainer):
    daemon = service(pictures(12), batch_size=4, size=8, epochs=1)
    # One batch is in hand and one is offered. The other trainer has the third.
    holder = forebay.Loader("train", socket=daemon.socket)
    held = holder.next()
    wait_until(lambda: daemon.stream()["slots"]["held"] == 2)
    waiting = trainer(
        """
        loader = forebay.Loader("train", socket=socket)
        print(loader.next().records.tolist())
        try:
            loader.next(timeout=0.2)
        except TimeoutError:
            print("timeout")
        try:
            print("waiting")
            loader.next()
        except KeyboardInterrupt:
            print("interrupted")
        print(loader.next().records.tolist())
        """,
        socket=daemon.socket,
    )
    lines = waiting.stdout
    assert json.loads(lines.readline()) == [8, 9, 10, 11]
    assert [lines.readline() for _ in range(2)] == ["timeout\n", "waiting\n"]
    waiting.send_signal(signal.SIGINT)
    assert lines.readline() == "interrupted\n"
    held.reject()
    assert json.loads(lines.readline()) == [0, 1, 2, 3]
    holder.close()


def test_close_by_another_thread_ends_a_wait(service, pictures, trainer):
    daemon = service(pictures(4), batch_size=4, size=8, epochs=1)
    holder = trainer(
        """
        loader = forebay.Loader("train", socket=socket)
        print(loader.next().valid)
        time.sleep(600)
        """,
        socket=daemon.socket,
    )
    assert holder.stdout.readline() == "4\n"
    loader = forebay.Loader("train", socket=daemon.socket)
    ended = []

    def wait():
        try:
            loader.next()
        except forebay.ClosedError as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    loader.close()
    thread.join(PATIENCE)
    assert len(ended) == 1


def test_rule_16_the_private_daemon_is_killed_and_every_record_still_comes_once(pictures):
    with forebay.Loader(pictures(60), batch_size=4, size=8, shuffle=True, epochs=1) as loader:
        seen = []
        for number, batch in enumerate(loader):
            seen += own(batch)
            if number in (3, 8):
                (daemon,) = private_daemons()
                os.kill(daemon, signal.SIGKILL)
        assert sorted(seen) == list(range(60))
        (audit,) = loader.audit()
        assert (audit.delivered, audit.adds_up) == (60, True)


@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("settings", [{}, {"sharding": forebay.Shard(1, 2)}, {"last_batch_policy": "drop"}])
def test_rule_15_of_a_private_daemon_that_is_killed_no_record_counts_as_repeated(pictures, settings, holds):
    with forebay.Loader(pictures(90), batch_size=4, size=8, epochs=2, shuffle=True, **settings) as loader:
        seen = {0: [], 1: []}
        for number, batch in enumerate(loader):
            seen[0] += own(batch)
            if number in (2, 5):
                if not holds:
                    batch.ack()
                (daemon,) = private_daemons()
                os.kill(daemon, signal.SIGKILL)
        for batch in loader:
            seen[1] += own(batch)
        audits = loader.audit()
        # Of a shard, a Loader does not know the records that there must be.
        assert all(audit.complete and audit.adds_up is not False for audit in audits)
        # The Loader knows all that it was given, so the bound is exact: nothing comes twice.
        assert [sum(audit.repeats.values()) for audit in audits] == [0, 0], audits
        assert all(len(records) == len({*records}) for records in seen.values())


def test_rule_16_a_private_daemon_that_died_is_started_again_where_sigchld_is_ignored(pictures, trainer):
    process = trainer(
        """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        with forebay.Loader(folder, batch_size=4, size=8, epochs=1) as loader:
            seen = loader.next().records.tolist()
            print(json.dumps(seen))
            sys.stdin.readline()
            for batch in loader:
                seen += batch.records.tolist()
            print(json.dumps(seen))
        print("closed")
        """,
        folder=pictures(40),
    )
    process.stdout.readline()
    for daemon in private_daemons(process.pid):
        os.kill(daemon, signal.SIGKILL)
        wait_until(lambda: not alive(daemon))  # noqa: B023 - it is called at once
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert sorted(json.loads(process.stdout.readline())) == list(range(40))
    assert process.stdout.readline() == "closed\n"


def test_rule_16_the_service_is_killed_and_started_again(service, pictures):
    # It reads so little ahead that it does not come to what its predecessor had before the trainer hands in its part.
    daemon = service(pictures(400), budget="4kb", batch_size=4, size=8, shuffle=True, epochs=1)
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        seen = own(loader.next()) + own(loader.next())
        held = loader.next()
        daemon.kill()
        daemon.start()
        seen += own(held)
        seen += [record for batch in loader for record in own(batch)]
        assert sorted(seen) == list(range(400))
        (audit,) = loader.audit()
        assert (audit.delivered, audit.adds_up) == (400, True)


def test_a_killed_trainer_s_batch_comes_to_another_and_the_audit_adds_up(service, pictures, trainer):
    daemon = service(pictures(40), batch_size=4, size=8, epochs=1)
    killed = trainer(
        """
        loader = forebay.Loader("train", socket=socket)
        print(loader.next().records.tolist())
        print(loader.next().records.tolist())
        time.sleep(600)
        """,
        socket=daemon.socket,
    )
    acked, in_hand = (json.loads(killed.stdout.readline()) for _ in range(2))
    os.kill(killed.pid, signal.SIGKILL)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        seen = [record for batch in loader for record in own(batch)]
        assert sorted(seen + acked) == list(range(40))
        assert set(in_hand) <= set(seen), "what was in hand was not acked and comes again"
        (audit,) = loader.audit()
        assert (audit.delivered, audit.adds_up) == (40, True)


def test_two_trainers_share_an_epoch_and_every_record_comes_once(service, pictures, trainer):
    daemon = service(pictures(100), batch_size=4, size=8, shuffle=True, epochs=3)
    code = """
        with forebay.Loader("train", socket=socket) as loader:
            print(json.dumps([[int(r) for b in loader for r in b.records] for _ in range(3)]))
        """
    trainers = [trainer(code, socket=daemon.socket) for _ in range(2)]
    parts = [json.loads(each.stdout.readline()) for each in trainers]
    # A trainer that starts late misses what the other one took. Together they have everything.
    everything = sorted(record for part in parts for epoch in part for record in epoch)
    assert everything == sorted(list(range(100)) * 3)


def test_a_killed_process_takes_its_private_daemon_along(pictures, trainer):
    killed = trainer(
        """
        loader = forebay.Loader(folder, batch_size=4, size=8)
        loader.next()
        print("ready")
        time.sleep(600)
        """,
        folder=pictures(8),
    )
    assert killed.stdout.readline() == "ready\n"
    (daemon,) = private_daemons(killed.pid)
    os.kill(killed.pid, signal.SIGKILL)
    wait_until(lambda: not alive(daemon))


def test_rule_26_settings_that_differ_from_the_stream_s_are_refused_one_by_one(service, pictures):
    daemon = service(pictures(8), batch_size=4, size=8)
    with forebay.Loader("train", socket=daemon.socket, batch_size=4, size=8) as loader:
        assert len(loader) == 2
    with pytest.raises(forebay.SettingsError) as raised:
        forebay.Loader("train", socket=daemon.socket, batch_size=5, dtype="float32")
    assert "batch_size" in str(raised.value)
    assert "dtype" in str(raised.value)
    with pytest.raises(forebay.AttachError, match="valid"):
        forebay.Loader("valid", socket=daemon.socket)


def test_rule_13_shards_of_a_service_wait_for_their_own_trainer(service, pictures):
    daemon = service(pictures(10), batch_size=2, size=8, epochs=1, num_shards=2)
    for shard_id in range(2):
        shard = {"socket": daemon.socket, "sharding": forebay.Shard(shard_id, 2)}
        with forebay.Loader("stream:train", **shard) as loader:
            seen = own(loader.next())
            held = loader.next()
            daemon.kill()
            daemon.start()
            seen += own(held)
            seen += [record for batch in loader for record in own(batch)]
            assert seen == list(range(5 * shard_id, 5 * shard_id + 5))
    with pytest.raises(forebay.AttachError, match="num_shards: is 5, but the stream has 2"):
        forebay.Loader("stream:train", socket=daemon.socket, sharding=forebay.Shard(1, 5))
