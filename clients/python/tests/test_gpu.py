"""Rings in memory of a GPU, on the fake GPU: its memory is a file that both processes map."""

import ctypes
import gc
import logging
import os
import sys
import types
from pathlib import Path
from typing import ClassVar

import forebay
import numpy as np
import pytest
from forebay import attachment
from forebay._cuda.context import gpus

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def everything(loader):
    """Pictures by record, and the names of the arrays' types."""
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


class Tensor(ctypes.Structure):
    """The first fields of `DLTensor`."""

    _fields_: ClassVar[list] = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint8 * 4),
    ]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("dtype", "typestr", "code"), [("float16", "<f2", 2), ("bfloat16", "<i2", 4)])
def test_dlpack_has_a_name_for_either_half_precision(pictures, dtype, typestr, code):
    with forebay.Loader(pictures(4), batch_size=4, size=8, epochs=1, placement="gpu:0", dtype=dtype) as loader:
        batch = loader.next()
        images = batch.images
        assert (batch.dtype, images.__cuda_array_interface__["typestr"]) == (dtype, typestr)
        prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
        capsule = images.__dlpack__()
        tensor = Tensor.from_address(pointer(capsule, b"dltensor"))
        assert (list(tensor.device), tensor.ndim, list(tensor.dtype)) == ([2, 0], 4, [code, 16, 1, 0])
        assert tensor.data == images.__cuda_array_interface__["data"][0]


def test_a_ring_of_the_next_daemon_is_pinned_and_mapped_as_well(gpu, pictures, service):
    # Most machines are like this.
    gpu.set(NoReadOnly=1)
    for run, placement, locked in [("first", "host", 1), ("second", "gpu:0", 0)]:
        settings = {"batch_size": 4, "size": 8, "epochs": 1, "placement": placement, "pin_memory": True}
        daemon = service(pictures(40), **settings, run=run)
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
        # A trainer that returns late may get again what it holds (rule 15).
        assert sorted(set(seen)) == list(range(40))
        daemon.end()


@pytest.mark.parametrize(("placement", "count"), [("host", "Registered"), ("gpu:0", "SharedMaps")])
def test_a_ring_that_the_daemon_has_let_go_of_is_let_go_of_here(gpu, pictures, service, trainer, placement, count):
    daemon = service(pictures(60), batch_size=4, size=8, epochs=1, trainers=1, placement=placement)
    # These processes close their Loaders and keep the arrays. So all four slots of the ring are in use until they end.
    leavers = []
    for _ in range(2):
        code = """
            loader = forebay.Loader("train", socket=socket, placement=placement)
            first, second = loader.next(), loader.next()
            kept = [first.images, second.images]
            second.ack()
            first = second = None
            loader.close()
            print("left")
            time.sleep(600)
            """
        leavers.append(trainer(code, socket=daemon.socket, placement=placement))
        assert leavers[-1].stdout.readline() == "left\n"
    with forebay.Loader("train", socket=daemon.socket, placement=placement) as loader:
        loader.pin()
        seen = loader.next().records.tolist()
        assert gpu.count(count) == 2
        for leaver in leavers:
            leaver.kill()
            leaver.wait()
        for batch in loader:
            seen += batch.records.tolist()
            assert batch.copy().images[:, 0, 0, 0].tolist() == batch.records.tolist()
        assert gpu.count(count) == 1
        assert sorted(seen) == list(range(16, 60))


def is_mapped(address):
    """Whether this process has memory at an address."""
    ranges = (line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines())
    return any(int(start, 16) <= address < int(end, 16) for start, end in ranges)


@pytest.mark.parametrize(("placement", "count"), [("host", "Registered"), ("gpu:0", "SharedMaps")])
def test_a_ring_that_goes_while_a_graph_is_captured_goes_back_to_the_driver_after_it(gpu, pictures, placement, count):
    folder = pictures(8)
    loader = forebay.Loader(folder, batch_size=4, size=8, epochs=1, placement=placement)
    loader.pin()
    (ring,) = loader._feed.session.rings()
    address, _ = ring.slots
    assert gpu.count(count) == 1
    gpu.set(Capture=1)
    loader.close()
    del loader, ring
    gc.collect()
    assert gpu.count(count) == 1, "the GPU may still use it, and cannot be waited for"
    assert is_mapped(address) or placement != "host", "a driver that has locked pages is not left without them"
    gpu.set(Capture=0)
    with forebay.Loader(folder, batch_size=4, size=8, epochs=1):
        assert gpu.count(count) == 0


def test_a_gpu_that_cannot_be_mapped_here_is_an_error_or_auto_takes_the_host(gpu, pictures, caplog):
    gpu.set(NoImport=1)
    with pytest.raises(forebay.AttachError, match="cuMemImportFromShareableHandle failed"):
        forebay.Loader(pictures(8), batch_size=4, size=8, placement="gpu:0")
    with caplog.at_level(logging.WARNING, "forebay"):
        loader = forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="auto")
    assert "cannot be mapped here" in caplog.text
    with loader:
        assert (loader.placement, sum(batch.valid for batch in loader)) == ("host", 8)


def test_auto_says_what_to_do_where_others_read_the_stream_from_a_gpu_that_cannot_be_mapped(
    gpu, pictures, service, trainer
):
    daemon = service(pictures(8), batch_size=4, size=8, epochs=1, placement="auto")
    gpu.set(NoImport=1)
    code = """
        with forebay.Loader("train", socket=socket, placement="auto") as loader:
            print(loader.placement)
            time.sleep(600)
        """
    other = trainer(code, socket=daemon.socket)
    assert other.stdout.readline() == "gpu:0\n"
    refusal = r'cannot be mapped here.*is in that memory for its other trainers.*placement = "host"'
    with pytest.raises(forebay.AttachError, match=refusal):
        forebay.Loader("train", socket=daemon.socket, placement="auto")
    other.kill()
    other.wait()
    with forebay.Loader("train", socket=daemon.socket, placement="auto") as loader:
        assert (loader.placement, sum(batch.valid for batch in loader)) == ("host", 8)


def test_a_stream_that_comes_back_in_the_host_is_told_as_such_and_its_memory_goes(gpu, pictures, service):
    daemon = service(pictures(40), batch_size=4, size=8, epochs=1, placement="auto", run="one")
    with forebay.Loader("train", socket=daemon.socket, placement="auto") as loader:
        assert loader.next() is not None
        assert (loader.placement, gpu.count("SharedMaps")) == ("gpu:0", 1)
        daemon.kill()
        gpu.set_for_daemons(Gpus=0)
        daemon.start()
        kinds = [type(batch.images).__name__ for batch in loader]
        assert kinds[-1] == "ndarray"
        assert (loader.placement, gpu.count("SharedMaps")) == ("host", 0)


@pytest.mark.usefixtures("gpu")
def test_a_forked_child_of_a_process_that_uses_cuda_is_told_so(pictures):
    folder = pictures(8)
    assert len(gpus()) == 1
    child = os.fork()
    if child == 0:
        try:
            forebay.Loader(folder, batch_size=4, size=8, placement="gpu:0")
        except forebay.AttachError as error:
            os._exit(0 if "was forked from" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(gpus()) == 1


def test_pytorch_without_cuda_is_no_reason_to_start_it(gpu, pictures, service, monkeypatch):
    daemon = service(pictures(8), batch_size=4, size=8, epochs=1)
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(attachment, "gpus", lambda: pytest.fail("CUDA was started"))
    with forebay.Loader("train", socket=daemon.socket) as loader:
        assert loader.placement == "host"
    assert gpu.count("Contexts") == 0


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
    with pytest.raises(forebay.SettingsError, match="this trainer sees none"):
        forebay.Loader(folder, batch_size=4, size=8, placement="gpu:0")


def test_placement_is_one_of_three_words(pictures):
    with pytest.raises(forebay.SettingsError, match=r'placement.*"gpu:0"'):
        forebay.Loader(pictures(4), batch_size=4, size=8, placement="cuda:0")
