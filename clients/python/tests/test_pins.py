"""Page-locked rings, on the fake GPU."""

import ctypes
import faulthandler
import gc
import logging
import os
import signal

import forebay
import pytest
from forebay._cuda import memory, remains

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_pin_locks_the_ring_and_unlocks_it_with_the_loader(gpu, pictures):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1)
    loader.pin()
    loader.pin()
    assert (gpu.count("Registered"), gpu.count("ReadOnly")) == (1, 1)
    assert sum(batch.valid for batch in loader) == 8
    loader.close()
    del loader
    gc.collect()
    assert gpu.count("Registered") == 0


def test_pin_says_what_stands_against_it(gpu, pictures, monkeypatch):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        gpu.set(NoReadOnly=1)
        with pytest.raises(forebay.GpuError, match=r"READ_ONLY_HOST_REGISTER.*Give the Loader pin_memory=True"):
            loader.pin()
        gpu.set(NoReadOnly=0, NoRegister=1)
        with pytest.raises(forebay.GpuError, match="cuMemHostRegister_v2 failed with CUDA_ERROR_NOT_SUPPORTED"):
            loader.pin()
        gpu.forget()
        monkeypatch.setenv("FOREBAY_CUDA_DRIVER", "/nowhere/libcuda.so.1")
        with pytest.raises(forebay.GpuError, match=r"cannot be opened.*/nowhere"):
            loader.pin()
        assert sum(batch.valid for batch in loader) == 8


@pytest.mark.parametrize("only_writable", [0, 1])
def test_pin_memory_locks_the_ring_whatever_memory_the_driver_takes(gpu, pictures, only_writable):
    gpu.set(NoReadOnly=only_writable)
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1, pin_memory=True) as loader:
        assert (gpu.count("Registered"), gpu.count("ReadOnly")) == (1, 1 - only_writable)
        loader.pin()
        (ring,) = loader._feed.session.rings()
        start, length = ring.slots
        for batch in loader:
            address, read_only = batch.images.__array_interface__["data"]
            assert start <= address
            assert address + batch.images.nbytes <= start + length
            assert read_only
            assert not batch.images.flags.writeable
            assert batch.images[:, 0, 0, 0].tolist() == batch.records.tolist()
    del loader, ring, batch
    gc.collect()
    assert gpu.count("Registered") == 0


def test_a_pinnable_ring_is_locked_also_where_a_driver_fails_to_do_what_its_gpu_says_that_it_can(
    gpu, pictures, monkeypatch
):
    gpu.set(NoReadOnly=1)
    # The fake GPU has this attribute.
    monkeypatch.setattr(memory, "_READ_ONLY_REGISTER", 1)
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, pin_memory=True) as loader:
        assert (gpu.count("Registered"), gpu.count("ReadOnly")) == (1, 0)
        assert sum(batch.valid for batch in loader) == 8
    loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1)
    with loader, pytest.raises(forebay.GpuError, match="cuMemHostRegister_v2 failed"):
        loader.pin()


def test_pin_for_a_second_gpu_says_that_the_ring_is_locked_for_the_first(gpu, pictures):
    gpu.set(Gpus=2)
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, pin_memory=True) as loader:
        with pytest.raises(forebay.SettingsError, match=r"pin\(device=1\).*for GPU 0 already.*set_device"):
            loader.pin(1)
        loader.pin(0)
        loader.pin()
        assert gpu.count("Registered") == 1


def test_a_loader_that_does_not_pin_takes_a_stream_whose_ring_can_be_pinned(pictures, service):
    daemon = service(pictures(8), batch_size=4, size=8, epochs=1, pin_memory=True)
    with forebay.Loader("train", socket=daemon.socket, pin_memory=False) as loader:
        assert sum(batch.valid for batch in loader) == 8


def test_a_write_to_a_ring_that_was_locked_as_writable_memory_is_a_signal_again(gpu, pictures):
    gpu.set(NoReadOnly=1)
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, pin_memory=True) as loader:
        batch = loader.next()
        address = batch.images.__array_interface__["data"][0]
        child = os.fork()
        if child == 0:
            faulthandler.disable()
            ctypes.memset(address, 1, 1)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGSEGV
        assert batch.images[0, 0, 0].tolist() == [0, 100, 200]


def test_pin_memory_that_cannot_be_had_is_an_error_at_once(gpu, pictures, service):
    folder = pictures(8)
    gpu.set(NoRegister=1)
    with pytest.raises(forebay.GpuError, match="cuMemHostRegister_v2 failed"):
        forebay.Loader(folder, batch_size=4, size=8, pin_memory=True)
    daemon = service(folder, batch_size=4, size=8, epochs=1)
    with pytest.raises(forebay.SettingsError, match="pin_memory: is true, but the stream has the default"):
        forebay.Loader("train", socket=daemon.socket, pin_memory=True)


def test_a_lock_that_failed_can_be_tried_again(gpu, pictures, service):
    gpu.set(NoReadOnly=1, NoRegister=1)
    daemon = service(pictures(8), batch_size=4, size=8, epochs=1, pin_memory=True)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        with pytest.raises(forebay.GpuError, match="cuMemHostRegister_v2 failed"):
            loader.pin()
        gpu.set(NoRegister=0)
        loader.pin()
        assert (gpu.count("Registered"), sum(batch.valid for batch in loader)) == (1, 8)


def test_a_ring_of_a_broken_gpu_is_not_waited_for_without_end(gpu, pictures):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1)
    loader.pin()
    gpu.set(BreakAfter=-1)
    loader.close()
    del loader
    gc.collect()
    assert not remains._remains


def test_a_new_ring_that_cannot_be_pinned_is_used_as_it_is(gpu, pictures, service, caplog):
    daemon = service(pictures(40), batch_size=4, size=8, epochs=1, run="one")
    with forebay.Loader("train", socket=daemon.socket) as loader:
        loader.pin()
        assert loader.next().valid == 4
        daemon.kill()
        gpu.set(NoRegister=1)
        daemon.start()
        with caplog.at_level(logging.WARNING, "forebay"):
            assert sum(batch.valid for batch in loader) >= 36
    assert caplog.text.count("is not page-locked") == 1
