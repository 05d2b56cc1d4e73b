"""When slots return to the daemon that a GPU may still read, on the fake GPU."""

import contextlib
import ctypes
import gc
import os
import sys
import threading

import forebay
import pytest
from forebay._cuda import mark as marking
from forebay.hold import HeldView
from marks import CupyMark, JaxMark, Mark
from slots import held, picture, start_of

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("placement", ["host", "gpu:0"])
def test_rule_14_a_slot_is_not_filled_again_before_the_copy_that_reads_it_is_done(pictures, placement):
    with forebay.Loader(pictures(200), batch_size=4, size=8, epochs=1, placement=placement) as loader:
        batch = loader.next()
        interface = "__array_interface__" if placement == "host" else "__cuda_array_interface__"
        address = getattr(batch.images, interface)["data"][0]
        before = ctypes.string_at(address, 4 * 8 * 8 * 3)
        copied = Mark()
        batch.release(after=copied)
        with pytest.raises(forebay.ClosedError):
            _ = batch.labels
        for _ in range(20):
            loader.next().release()
        assert ctypes.string_at(address, len(before)) == before, "the copy still reads it"
        assert len(loader._feed.releases) >= 1
        copied.done = True
        while (later := loader.next()) is not None:
            later.release()
        assert ctypes.string_at(address, len(before)) != before, "the slot was filled again"
        assert copied.waited == 0
        assert sum(audit.delivered for audit in loader.audit()) == 200


def test_rule_14_who_leaves_every_slot_to_copies_waits_for_the_oldest_of_them(pictures):
    marks = []
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1) as loader:
        for batch in loader:
            marks.append(Mark())
            batch.release(after=marks[-1])
            assert len(loader._feed.releases) <= 2
        assert [mark.waited for mark in marks[:-1]] == [1] * 9
    assert marks[-1].waited == 1, "close() waits for the last"


@pytest.mark.parametrize("kind", [Mark, CupyMark, JaxMark])
def test_release_takes_the_marks_of_every_framework(pictures, kind):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1) as loader:
        mark = kind()
        loader.next().release(after=mark)
        loader._feed.releases.look()
        assert held(loader) == 1
        mark.done = True
        loader._feed.releases.look()
        assert held(loader) == 0
        marks = [kind(), kind()]
        for mark in marks:
            loader.next().release(after=mark)
        assert loader.next().records.tolist() == [12, 13, 14, 15], "who leaves every slot to marks waits for the oldest"
        assert [mark.done for mark in marks] == [True, False]


def test_release_takes_only_what_can_be_asked(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        batch = loader.next()
        with pytest.raises(TypeError, match=r"query\(\).*cupy.*jax"):
            batch.release(after=object())
        assert batch.images.shape == (4, 8, 8, 3), "nothing was let go of"


def test_a_forked_child_gives_back_nothing_that_is_its_parent_s(gpu, pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
        batch = loader.next()
        images = batch.images
        child = os.fork()
        if child == 0:
            del images, batch, loader
            gc.collect()
            os._exit(0 if gpu.count("SharedMaps") == 1 and gpu.count("Events") == 0 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert images.numpy()[:, 0, 0, 0].tolist() == [0, 1, 2, 3]


class Failing(Mark):
    """The mark of a GPU that has failed."""

    def synchronize(self):
        raise forebay.GpuError("the GPU is broken")


@pytest.fixture(params=["pinned", "gpu:0"])
def read_by_gpu(request, gpu):  # noqa: ARG001 - it is there before
    """Makes Loaders whose slots a GPU reads asynchronously: with a page-locked ring, and with a ring in the GPU."""

    @contextlib.contextmanager
    def make(source, **settings):
        placement = "host" if request.param == "pinned" else request.param
        with forebay.Loader(source, **{"batch_size": 4, "size": 8, "epochs": 1, **settings}, placement=placement) as it:
            if request.param == "pinned":
                it.pin()
            yield it

    return make


class TestRoom:
    """The next batch needs a slot while a GPU still reads the others."""

    @pytest.fixture(autouse=True)
    def marks(self, gpu, monkeypatch):  # noqa: ARG002 - it is there before
        """Replaces the driver's events by marks that are reached only when a caller waits for them."""
        made = []
        monkeypatch.setattr(marking, "Event", lambda *_: made.append(Mark()) or made[-1])
        return made

    def test_rule_14_a_trainer_whose_gpu_is_behind_waits_for_it(self, pictures, marks, read_by_gpu):
        with read_by_gpu(pictures(40)) as loader:
            seen = [batch.records[0] for batch in loader]
            assert seen == list(range(0, 40, 4))
        assert [mark.waited for mark in marks] == [1] * 10

    def test_rule_14_a_slot_that_an_event_and_a_tensor_hold_is_one_slot(self, pictures, read_by_gpu):
        with read_by_gpu(pictures(40)) as loader:
            # Like a loop over loader.torch(copy=False): the variables still refer to the tensors of the step before.
            for batch in loader:
                images = batch.images
                moved = Mark()
                moved.done = True
                batch.release(after=moved)
                assert held(loader) <= 2
            assert picture(images)[:, 0, 0, 0].tolist() == [36, 37, 38, 39]

    def test_what_another_thread_lets_go_of_meanwhile_is_waited_for(self, pictures, read_by_gpu):
        with read_by_gpu(pictures(40)) as loader:
            kept = [loader.next().images, loader.next().images]
            thread = threading.Timer(0.1, kept.clear)
            thread.start()
            assert loader.next().records.tolist() == [8, 9, 10, 11]
            thread.join()

    def test_slots_that_are_kept_are_still_refused(self, pictures, read_by_gpu):
        with read_by_gpu(pictures(40)) as loader:
            kept = [loader.next().images, loader.next().images]
            with pytest.raises(forebay.SlotsHeld):
                loader.next(timeout=0)
            assert len(kept) == 2

    def test_one_credit_is_enough_for_a_loop(self, pictures, service):
        daemon = service(pictures(40), batch_size=4, size=8, epochs=1, placement="gpu:0", credits=1, trainers=1)
        with forebay.Loader("train", socket=daemon.socket, placement="gpu:0") as loader:
            assert (loader._feed.session.credits(), loader.placement) == (1, "gpu:0")
            assert [batch.records[0] for batch in loader] == list(range(0, 40, 4))


def test_rule_14_a_slot_is_held_while_the_default_stream_has_work(gpu, pictures, read_by_gpu):
    with read_by_gpu(pictures(8)) as loader:
        gpu.set(BusyDefault=1)
        loader.next().release()
        loader._feed.releases.look()
        assert held(loader) == 1
        gpu.set(BusyDefault=0)
        assert loader._feed.releases.wait()
        assert held(loader) == 0


def test_rule_14_a_slot_that_python_let_go_of_is_not_filled_again_while_the_gpu_reads_it(gpu, pictures, read_by_gpu):
    with read_by_gpu(pictures(200)) as loader:
        batch = loader.next()
        images = batch.images
        address, before = start_of(images), picture(images).tobytes()
        # Like a loop that copies to the GPU asynchronously, and then rebinds its variables.
        gpu.set(BusyDefault=1)
        del batch, images
        later = loader.next(timeout=60)
        later.reject()
        del later
        assert held(loader) == 2, "a batch that goes back unread is read by the GPU as well"
        gpu.set(BusyDefault=0)
        while (later := loader.next()) is not None:
            later.release()
        assert ctypes.string_at(address, len(before)) != before, "the slot was filled again"


@pytest.mark.parametrize("ended_by", ["an exception", "close()"])
def test_rule_14_neither_an_exception_nor_close_gives_a_slot_back_while_the_gpu_reads_it(
    gpu, pictures, read_by_gpu, ended_by
):
    let_go = threading.Timer(0.2, lambda: gpu.set(BusyDefault=0))
    released = []
    with read_by_gpu(pictures(8)) as loader:
        finish = loader._feed.releases.finish
        loader._feed.releases.finish = lambda: (released.append(held(loader)), finish(), released.append(held(loader)))
        with contextlib.suppress(LookupError):
            for batch in loader:
                gpu.set(BusyDefault=1)
                let_go.start()
                if ended_by == "close()":
                    break
                raise LookupError(len(batch))
        batch = None
    let_go.join()
    assert released == [1, 0], "close() waits for the GPU before it lets go of the daemon"


def test_rule_14_labels_of_a_page_locked_ring_hold_its_slot_as_images_do(gpu, pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        early = loader.next()
        loader.pin()
        kept = [early.labels, loader.next().mask]
        early.release()
        gpu.set(BusyDefault=1)
        for array in kept:
            assert isinstance(array.base.base, HeldView)
        del array
        kept.clear()
        loader._feed.releases.look()
        assert held(loader) == 2
        gpu.set(BusyDefault=0)


def test_arrays_of_a_ring_that_is_not_page_locked_go_back_at_once(gpu, pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        gpu.set(BusyDefault=1)
        loader.next().release()
        assert (held(loader), len(loader._feed.releases), gpu.count("Contexts")) == (0, 0, 0)


@pytest.mark.parametrize(("capture", "marks"), [(1, 0), (2, 2)])
def test_rule_14_a_slot_that_is_let_go_of_while_a_graph_is_captured_comes_back_after_it(
    gpu, pictures, read_by_gpu, capture, marks
):
    with read_by_gpu(pictures(40)) as loader:
        kept = [loader.next(), loader.next()]
        gpu.set(Capture=capture)
        for batch in kept:
            batch.release()
        assert gpu.count("Events") == marks, "nothing is recorded into a graph that says that it is captured"
        loader._feed.releases.look()
        assert held(loader) == 2
        gpu.set(Capture=0)
        assert [batch.records[0] for batch in loader] == list(range(8, 40, 4))


@pytest.mark.parametrize(("knob", "value"), [("NoEvents", 1), ("BreakAfter", -1)])
def test_rule_14_a_slot_without_an_event_is_held_until_the_gpu_has_nothing_to_do(
    gpu, pictures, read_by_gpu, knob, value
):
    with read_by_gpu(pictures(40)) as loader:
        kept = [loader.next(), loader.next()]
        gpu.set(**{knob: value})
        for batch in kept:
            batch.release()
        loader._feed.releases.look()
        assert held(loader) == 2
        if knob == "BreakAfter":
            with pytest.raises(forebay.GpuError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
                loader.next()
            assert held(loader) == 2
            gpu.set(BreakAfter=0)
        assert loader.next().records.tolist() == [8, 9, 10, 11]
        assert held(loader) == 2


def interrupt(*_):
    """A Ctrl-C while a mark is made."""
    raise KeyboardInterrupt


def test_rule_14_a_slot_whose_mark_a_ctrl_c_cuts_short_is_held_until_the_gpu_has_nothing_to_do(
    pictures, read_by_gpu, monkeypatch
):
    heard = []
    with read_by_gpu(pictures(40)) as loader:
        kept = [loader.next(), loader.next()]
        with monkeypatch.context() as patch:
            patch.setattr(marking, "Event", interrupt)
            # Python reports what a finalizer raises there.
            patch.setattr(sys, "unraisablehook", lambda told: heard.append(told.exc_type))
            for batch in kept:
                batch.release()
        assert heard == [KeyboardInterrupt] * 2
        loader._feed.releases.look()
        assert held(loader) == 2
        assert [batch.records[0] for batch in loader] == list(range(8, 40, 4))


@pytest.mark.usefixtures("gpu")
def test_rule_14_a_copy_that_a_ctrl_c_cuts_short_holds_its_slot(pictures, monkeypatch):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
        batch = loader.next()
        with monkeypatch.context() as patch:
            patch.setattr(marking, "Event", interrupt)
            with pytest.raises(KeyboardInterrupt):
                batch.images.__dlpack__(copy=True)
        batch.release()
        loader._feed.releases.look()
        assert held(loader) == 1
        assert loader._feed.releases.wait()
        loader._feed.releases.look()
        assert held(loader) == 0


def test_a_loader_that_nobody_closes_waits_for_the_copies_that_read_its_slots(pictures):
    mark = Mark()
    loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1)
    batch = loader.next()
    batch.release(after=mark)
    del loader
    gc.collect()
    assert not mark.waited, "the batch may still wait for events of its own"
    del batch
    gc.collect()
    assert mark.waited == 1


def test_an_event_that_fails_keeps_its_slot_and_does_not_keep_the_loader_open(pictures):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1)
    loader.next().release(after=Failing())
    with pytest.raises(forebay.GpuError, match="the GPU is broken"):
        loader.close()
    assert len(loader._feed.releases) == 1
    with pytest.raises(forebay.ClosedError):
        loader._feed.session.credits()


def test_a_forked_child_asks_no_event_of_its_parent(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        mark = Mark()
        loader.next().release(after=mark)
        child = os.fork()
        if child == 0:
            loader.close()
            os._exit(mark.waited)
        assert os.waitpid(child, 0)[1] == 0
        assert held(loader) == 1


@pytest.mark.usefixtures("gpu")
def test_a_batch_whose_pixels_cannot_be_had_goes_back_unread(pictures, monkeypatch):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:

        def fail(*_):
            raise forebay.GpuError("no addresses are left")

        with monkeypatch.context() as patch:
            patch.setattr(loader._feed.rings._gpu, "array", fail)
            with pytest.raises(forebay.GpuError, match="no addresses"):
                loader.next()
        assert sorted(batch.records.tolist() for batch in loader) == [[0, 1, 2, 3], [4, 5, 6, 7]]
        assert loader.audit()[0].delivered == 8
