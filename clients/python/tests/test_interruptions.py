"""Exceptions in the middle of `next()`, and what a signal handler may do there."""

import contextlib
import functools
import os
import signal
import sys
import threading
from dis import get_instructions
from pathlib import Path

import forebay
import pytest
from processes import wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

PACKAGE = str(Path(forebay.__file__).parent)


class Interruption(BaseException):
    """An exception such as KeyboardInterrupt, or one that another thread raises here."""


class Interrupter:
    """Raises before one of the package's instructions, but not after the one that takes a batch over."""

    def __init__(self, at):
        self.left = at

    def __enter__(self):
        sys.settrace(self.trace)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def trace(self, frame, event, _argument):
        """Python calls this for each frame, and then before each instruction of that frame."""
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and not _is_behind_the_take_over(frame):
            self.left -= 1
            if self.left < 0:
                raise Interruption
        return self.trace


def _is_behind_the_take_over(frame):
    """CPython raises such exceptions only at calls, loops and a function's start: not from here to the return."""
    return frame.f_lasti > _take_over(frame.f_code)


@functools.cache
def _take_over(code):
    stores = (each for each in get_instructions(code) if (each.opname, each.argval) == ("STORE_ATTR", "taken"))
    return next((each.offset for each in stores), len(code.co_code))


def records(batch):
    return batch.records[batch.mask].tolist()


def interrupted_everywhere(draw):
    """Interrupts `draw` one instruction later each time, until it returns. Then starts again with the next batch."""
    at = 0
    while True:
        try:
            with Interrupter(at):
                drawn = draw()
        except Interruption:
            at += 1
        else:
            yield drawn
            at = 0


def epoch_of(draw):
    """Records of one epoch, where each draw was interrupted at each instruction."""
    seen = []
    for batch in interrupted_everywhere(draw):
        if batch is None:
            return seen
        seen += records(batch)
    raise AssertionError("it has no end of its own")


@pytest.mark.parametrize("slots", [1, 2])
def test_an_exception_in_next_loses_no_batch_and_repeats_none(pictures, slots):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=2, prefetch_queue_depth=slots) as loader:
        for epoch in range(2):
            assert epoch_of(loader.next) == list(range(12))
            audit = loader.audit()[epoch]
            assert (audit.delivered, audit.repeats, audit.adds_up) == (12, {}, True)


def test_an_exception_in_a_for_loop_loses_no_batch_and_its_epoch_ends_once(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=2) as loader:
        for _ in range(2):
            assert epoch_of(lambda: next(iter(loader), None)) == list(range(12))


def test_an_exception_in_the_conversion_to_torch_gives_the_batch_again(pictures):
    torch = pytest.importorskip("torch")
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        tensors = loader.torch()
        seen = []
        for batch in interrupted_everywhere(tensors.next):
            if batch is None:
                break
            seen += batch.records.tolist()
            assert batch.images.dtype == torch.uint8
        assert seen == list(range(12))


def test_a_conversion_that_fails_gives_the_batch_again(pictures, monkeypatch):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        with monkeypatch.context() as patched:
            patched.setattr(loader._feed, "_batch", lambda *_, **__: 1 / 0)
            for _ in range(3):
                with pytest.raises(ZeroDivisionError):
                    loader.next()
        assert [records(batch) for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_rule_22_a_state_does_not_count_a_batch_that_an_exception_threw_away(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        assert records(loader.next()) == [0, 1, 2, 3]
        loader._feed.session.next(None)  # as far as an exception lets it come
        state = loader.state_dict()
        assert [records(batch) for batch in loader] == [[4, 5, 6, 7], [8, 9, 10, 11]]
        loader.load_state_dict(state)
        assert [records(batch) for batch in loader] == [[4, 5, 6, 7], [8, 9, 10, 11]]


def test_a_reset_and_a_close_give_back_what_an_exception_threw_away(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=2) as loader:
        assert records(loader.next()) == [0, 1, 2, 3]
        loader._feed.session.next(None)
        loader.reset()
        assert (loader.audit()[0].delivered, loader.audit()[0].abandoned) == (4, 8)
        assert [records(batch) for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_a_loader_that_is_used_while_next_is_at_work_says_so_and_nothing_is_lost(pictures, monkeypatch):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        made = loader._feed._batch
        with monkeypatch.context() as patched:
            patched.setattr(
                loader._feed, "_batch", lambda *args, **named: (made(*args, **named), loader.state_dict())[0]
            )
            with pytest.raises(forebay.Error, match="call next\\(\\) again"):
                loader.next()
        assert [records(batch) for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


@pytest.fixture
def loader(service, pictures):
    """A Loader that gets no more batches: its daemon is stopped."""
    daemon = service(pictures(40), batch_size=4, size=8, epochs=1)
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        loader.next()
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            with contextlib.suppress(TimeoutError):
                while True:
                    loader.next(timeout=0.1)
            yield loader
        finally:
            daemon.process.send_signal(signal.SIGCONT)


@pytest.fixture
def next_during(loader):
    """Calls next(), and runs a signal handler while that call waits."""

    def is_waiting():
        try:
            loader._feed.session.credits()
        except forebay.Error:
            return True
        return False

    def interrupt():
        wait_until(is_waiting)
        os.kill(os.getpid(), signal.SIGUSR1)

    def call(handler):
        signal.signal(signal.SIGUSR1, lambda *_: handler())
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            loader.next()
        finally:
            thread.join()

    before = signal.getsignal(signal.SIGUSR1)
    yield call
    signal.signal(signal.SIGUSR1, before)


def test_close_in_a_signal_handler_ends_the_wait_that_it_has_interrupted(loader, next_during):
    with pytest.raises(forebay.ClosedError):
        next_during(loader.close)
    with pytest.raises(forebay.ClosedError):
        loader.next()


def test_a_signal_handler_that_closes_and_exits_is_heard(loader, next_during):
    def leave():
        loader.close()
        sys.exit(3)

    with pytest.raises(SystemExit, match="3"):
        next_during(leave)


def test_close_in_a_thread_that_a_signal_handler_waits_for_does_not_hang(loader, next_during):
    def close():
        thread = threading.Thread(target=loader.close)
        thread.start()
        thread.join()

    with pytest.raises(forebay.ClosedError):
        next_during(close)


@pytest.mark.parametrize("call", ["next", "state_dict", "reset", "audit"])
def test_every_other_call_in_a_signal_handler_says_that_the_loader_is_in_use(loader, next_during, call):
    # The handler's exception ends the wait.
    with pytest.raises(forebay.Error, match="this signal handler has interrupted"):
        next_during(getattr(loader, call))
