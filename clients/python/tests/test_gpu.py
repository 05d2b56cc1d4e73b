"""Rings in memory of a GPU, and page-locked rings, on the fake GPU: memory of it is a file that both processes map."""

import ctypes
import gc
import logging
import os

import forebay
import numpy as np
import pytest
from forebay import _cuda

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def everything(loader):
    """Pictures by record, and what the arrays were."""
    seen, kinds = {}, set()
    for batch in loader:
        kinds.add(type(batch.images).__name__)
        for record, picture in zip(batch.records.tolist(), batch.copy().images):
            seen[record] = picture.tobytes()
    return seen, kinds


def test_a_gpu_ring_gives_the_pixels_of_a_host_ring(gpu, pictures):
    folder = pictures(30)
    with forebay.Loader(folder, batch_size=4, size=8, epochs=1) as loader:
        assert loader.placement == "host"
        expected, kinds = everything(loader)
    assert (len(expected), kinds) == (30, {"ndarray"})
    for placement in ["gpu:0", "auto"]:
        with forebay.Loader(folder, batch_size=4, size=8, epochs=1, placement=placement) as loader:
            assert loader.placement == "gpu:0"
            assert everything(loader) == (expected, {"GpuArray"})
    del loader
    gc.collect()
    for count in ["SharedMaps", "SharedRanges", "SharedHandles", "Events"]:
        assert gpu.count(count) == 0, count


@pytest.mark.usefixtures("gpu")
def test_frameworks_find_the_memory_where_the_daemon_wrote_it(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0", dtype="float16") as loader:
        batch = loader.next()
        images = batch.images
        interface = images.__cuda_array_interface__
        expected = {"shape": (4, 8, 8, 3), "typestr": "<f2", "strides": None, "version": 3}
        assert {key: interface[key] for key in expected} == expected
        address, read_only = interface["data"]
        assert not read_only, "PyTorch refuses what is read-only"
        raw = np.frombuffer(ctypes.string_at(address, images.nbytes), np.float16).reshape(images.shape)
        assert np.rint(raw[:, 0, 0, 0] * 255).tolist() == [0, 1, 2, 3]
        assert (images.numpy() == raw).all()
        assert images.__dlpack_device__() == (2, 0)
        assert (len(images), batch.padded.images.shape) == (4, images.shape)


@pytest.mark.usefixtures("gpu")
def test_a_dlpack_capsule_keeps_the_slot_until_its_consumer_lets_go(pictures):
    from forebay import _dlpack

    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
        images = loader.next().images
        capsule = images.__dlpack__(stream=1, max_version=(1, 0))
        pointer = ctypes.cast(_dlpack._pointer(id(capsule), b"dltensor"), ctypes.POINTER(_dlpack._Managed))
        tensor = pointer.contents.tensor
        assert (tensor.data, tensor.device_type, tensor.device_id, tensor.ndim) == (images._address, 2, 0, 4)
        assert (tensor.code, tensor.bits, tensor.lanes, tensor.shape[:4]) == (1, 8, 1, [4, 8, 8, 3])
        # As a consumer does: it takes the tensor by renaming the capsule, and calls the deleter when it is done.
        ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
        del capsule
        assert len(_dlpack._lent) == 1
        pointer.contents.deleter(pointer)
        assert len(_dlpack._lent) == 0
        unused = images.__dlpack__()
        del unused
        gc.collect()
        assert len(_dlpack._lent) == 0


class Mark:
    """An event as PyTorch's."""

    def __init__(self):
        self.done = False
        self.waited = 0

    def query(self):
        return self.done

    def synchronize(self):
        self.waited += 1
        self.done = True


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
        assert len(loader._releases) >= 1
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
            assert len(loader._releases) <= 2
        assert [mark.waited for mark in marks[:-1]] == [1] * 9
    assert marks[-1].waited == 1, "close() waits for the last"


def test_release_takes_only_what_can_be_asked(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        batch = loader.next()
        with pytest.raises(TypeError, match="query"):
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


def test_pin_locks_the_ring_and_unlocks_it_with_the_loader(gpu, pictures):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1)
    loader.pin()
    loader.pin()
    assert gpu.count("Registered") == 1
    assert sum(batch.valid for batch in loader) == 8
    loader.close()
    del loader
    gc.collect()
    assert gpu.count("Registered") == 0


def test_pin_says_what_stands_against_it(gpu, pictures, monkeypatch):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        gpu.set(NoReadOnly=1)
        with pytest.raises(forebay.GpuError, match="READ_ONLY_HOST_REGISTER_SUPPORTED"):
            loader.pin()
        gpu.set(NoReadOnly=0, NoRegister=1)
        with pytest.raises(forebay.GpuError, match="cuMemHostRegister_v2 failed with CUDA_ERROR_NOT_SUPPORTED"):
            loader.pin()
        gpu.forget()
        monkeypatch.setenv("FOREBAY_CUDA_DRIVER", "/nowhere/libcuda.so.1")
        with pytest.raises(forebay.GpuError, match=r"cannot be opened.*/nowhere"):
            loader.pin()
        assert sum(batch.valid for batch in loader) == 8


def test_a_ring_of_the_next_daemon_is_pinned_and_mapped_as_well(gpu, pictures, service):
    for run, placement, locked in [("first", "host", 1), ("second", "gpu:0", 0)]:
        daemon = service(pictures(40), batch_size=4, size=8, epochs=1, placement=placement, run=run)
        with forebay.Loader("train", socket=daemon.socket, placement=placement) as loader:
            loader.pin()
            seen = loader.next().records.tolist()
            held = loader.next()
            daemon.kill()
            daemon.start()
            seen += held.records.tolist()
            first = held.copy().images[0]
            for batch in loader:
                assert batch.copy().images[:, 0, 0, 0].tolist() == batch.records.tolist()
                seen += batch.records.tolist()
            assert first[0, 0].tolist() == [4, 100, 200]
            del held, batch
            assert gpu.count("Registered") == locked
        # Whoever comes back late may get again what it holds (rule 15).
        assert sorted(set(seen)) == list(range(40))
        daemon.end()


def test_a_gpu_that_cannot_be_mapped_here_is_an_error_or_auto_takes_the_host(gpu, pictures, caplog):
    gpu.set(NoImport=1)
    with pytest.raises(forebay.AttachError, match="cuMemImportFromShareableHandle failed"):
        forebay.Loader(pictures(8), batch_size=4, size=8, placement="gpu:0")
    with caplog.at_level(logging.WARNING, "forebay"):
        loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="auto")
    assert "cannot be mapped here" in caplog.text
    with loader:
        assert (loader.placement, sum(batch.valid for batch in loader)) == ("host", 8)


def test_refusals_name_the_cause_and_auto_takes_the_host(gpu, pictures):
    folder = pictures(8)
    for knobs, cause in [({"Part": 1}, "MIG"), ({"NoVirtualMemory": 1}, "virtual memory"), ({"Gpus": 0}, "nvidiactl")]:
        gpu.set_for_daemons(**knobs)
        with pytest.raises(forebay.SettingsError, match=cause):
            forebay.Loader(folder, batch_size=4, size=8, placement="gpu:0")
        with forebay.Loader(folder, batch_size=4, size=8, epochs=1, placement="auto") as loader:
            assert (loader.placement, sum(batch.valid for batch in loader)) == ("host", 8)
    gpu.set_for_daemons()
    gpu.set(FirstUuid=7)
    with pytest.raises(forebay.SettingsError, match="this trainer sees another GPU: GPU-07070707"):
        forebay.Loader(folder, batch_size=4, size=8, placement="gpu:0")
    gpu.set(Gpus=0)
    gpu.forget()
    assert _cuda.gpus() == []
    with pytest.raises(forebay.SettingsError, match="this trainer sees none"):
        forebay.Loader(folder, batch_size=4, size=8, placement="gpu:0")


def test_placement_is_one_of_three_words(pictures):
    with pytest.raises(forebay.SettingsError, match=r'placement.*"gpu:0"'):
        forebay.Loader(pictures(4), batch_size=4, size=8, placement="cuda:0")
