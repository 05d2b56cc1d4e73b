"""What a DLPack capsule of a batch in a GPU keeps, on the fake GPU."""

import ctypes

import forebay
import numpy as np
import pytest
from forebay import _dlpack
from slots import held, start_of

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


class TestCapsule:
    """DLPack, by the structs of its header."""

    @staticmethod
    def address(capsule):
        """Address of the tensor, and a function that gives it back as a consumer does."""
        place = _dlpack._pointer(capsule, b"dltensor")
        # The fields are data, device, ndim and type, shape, strides, byte offset, manager_ctx, and then the deleter.
        deleter = ctypes.c_void_p.from_address(place + 56).value
        return place, lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(place)

    @pytest.mark.usefixtures("gpu")
    @pytest.mark.parametrize(("dtype", "code", "bits"), [("uint8", 1, 8), ("float16", 2, 16), ("float32", 2, 32)])
    def test_it_keeps_the_slot_until_its_consumer_lets_go(self, pictures, dtype, code, bits):
        with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0", dtype=dtype) as loader:
            images = loader.next().images
            capsule = images.__dlpack__(stream=1, max_version=(1, 0), dl_device=(2, 0), copy=False)
            place, delete = self.address(capsule)
            raw = ctypes.string_at(place, 32)
            assert int.from_bytes(raw[:8], "little") == images.__cuda_array_interface__["data"][0]
            assert np.frombuffer(raw, np.int32, 3, 8).tolist() == [2, 0, 4]
            assert (raw[20], raw[21], raw[22]) == (code, bits, 1)
            shape = int.from_bytes(raw[24:32], "little")
            assert np.frombuffer(ctypes.string_at(shape, 32), np.int64).tolist() == [4, 8, 8, 3]
            # A consumer takes the tensor by renaming the capsule, and calls the deleter when it is done.
            ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
            del capsule, images
            loader._feed.let_go(keep=0)
            assert held(loader) == 1
            delete()
            loader._feed.releases.look()
            assert held(loader) == 0

    @pytest.mark.parametrize("stream", [None, 1, 2, -1])
    def test_a_copy_is_memory_of_its_own_and_its_slot_goes_back_when_it_is_made(self, gpu, pictures, stream):
        with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
            images = loader.next().images
            expected = images.numpy().tobytes()
            taken = gpu.count("DeviceBytes")
            capsule = images.__dlpack__(stream=stream, copy=True)
            address = int.from_bytes(ctypes.string_at(_dlpack._pointer(capsule, b"dltensor"), 8), "little")
            assert address != start_of(images)
            assert ctypes.string_at(address, len(expected)) == expected
            assert gpu.count("DeviceBytes") == taken + len(expected)
            del images
            loader._feed.let_go(keep=0)
            loader._feed.releases.look()
            assert held(loader) == 0
            del capsule
            assert gpu.count("DeviceBytes") == taken

    def test_a_copy_that_goes_while_a_graph_is_captured_is_freed_after_it(self, gpu, pictures):
        with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
            images = loader.next().images
            taken = gpu.count("DeviceBytes")
            capsule = images.__dlpack__(copy=True)
            gpu.set(Capture=1)
            del capsule
            assert gpu.count("DeviceBytes") == taken + images.nbytes
            gpu.set(Capture=0)
            images.__dlpack__(copy=True)
            assert gpu.count("DeviceBytes") == taken

    @pytest.mark.usefixtures("gpu")
    def test_one_that_goes_while_an_exception_is_under_way_gives_its_slot_back(self, pictures):
        def fail():
            raise LookupError("another error")

        with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
            batch = loader.next()
            for _ in range(100):
                with pytest.raises(LookupError, match="another error"):
                    print(batch.images.__dlpack__(), fail())
            batch.release()
            del batch
            loader._feed.releases.look()
            assert held(loader) == 0

    @pytest.mark.usefixtures("gpu")
    def test_other_devices_and_silent_ways_to_the_host_are_refused(self, pictures):
        with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
            batch = loader.next()
            with pytest.raises(BufferError, match="are on cuda:0"):
                batch.images.__dlpack__(dl_device=(1, 0))
            with pytest.raises(TypeError, match=r"use \.numpy\(\)"):
                np.asarray(batch.images)
            assert batch.padded.images.numpy().shape == batch.copy().padded.images.shape == (4, 8, 8, 3)
