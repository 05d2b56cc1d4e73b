"""Memory of a GPU that is mapped into this process, copies of it, and page-locked memory of the host."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import weakref
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import TYPE_CHECKING

from forebay._cuda.context import Context
from forebay._cuda.remains import give_back
from forebay.errors import GpuError

if TYPE_CHECKING:
    from forebay import _native

__all__ = ["Copy", "Memory", "Pinned"]

_POSIX_DESCRIPTOR = 1
_READ_ONLY_REGISTER = 113
_REGISTER_PORTABLE, _REGISTER_READ_ONLY = 1, 8


class _Location(ctypes.Structure):
    """`CUmemLocation`."""

    _fields_ = [("kind", c_int), ("device", c_int)]


class _Access(ctypes.Structure):
    """`CUmemAccessDesc`."""

    _fields_ = [("location", _Location), ("flags", c_int)]


class Memory:
    """Memory of a GPU that another process allocated, mapped here.

    It stays mapped until nothing refers to this object, even if the process that allocated it has ended.

    Attributes:
        context: The GPU's context.
        address: First byte, for kernels and copies of this process.
        length: Number of bytes.
    """

    def __init__(self, context: Context, descriptor: int, length: int) -> None:
        self.context = context
        self.length = length
        with context.current() as call, contextlib.ExitStack() as steps:
            handle, address = c_uint64(), c_uint64()
            call("cuMemImportFromShareableHandle", byref(handle), c_void_p(descriptor), c_int(_POSIX_DESCRIPTOR))
            # The mapping keeps the memory. The handle is needed only until then.
            steps.callback(call, "cuMemRelease", handle)
            size = c_size_t(length)
            with contextlib.ExitStack() as undo:
                call("cuMemAddressReserve", byref(address), size, c_size_t(0), c_uint64(0), c_uint64(0))
                undo.callback(call, "cuMemAddressFree", address, size)
                call("cuMemMap", address, size, c_size_t(0), handle, c_uint64(0))
                undo.callback(call, "cuMemUnmap", address, size)
                access = _Access(_Location(1, context.device), 3)
                call("cuMemSetAccess", address, size, byref(access), c_size_t(1))
                # At the end of the process, the driver frees everything itself, if it is still loaded.
                weakref.finalize(self, give_back, context, undo.pop_all().close).atexit = False
        self.address: int = address.value

    def read(self, offset: int, length: int, to: int) -> None:
        """Copies `length` bytes to an address of the host, and waits for the copy."""
        with self.context.current() as call:
            call("cuMemcpyDtoH_v2", c_void_p(to), c_uint64(self.address + offset), c_size_t(length))


class Copy:
    """A copy of a GPU's memory in the same GPU, made on a stream. It is freed when nothing refers to it any more.

    Attributes:
        address: First byte.
    """

    def __init__(self, context: Context, address: int, length: int, stream: int) -> None:
        own, size = c_uint64(), c_size_t(length)
        with context.current() as call:
            call("cuMemAlloc_v2", byref(own), size)
            # The last reference may go before the GPU has made the copy.
            free = functools.partial(call, "cuMemFree_v2", own)
            weakref.finalize(self, give_back, context, free).atexit = False
            call("cuMemcpyDtoDAsync_v2", own, c_uint64(address), size, c_void_p(stream))
        self.address: int = own.value


class Pinned:
    """The slots of a ring in the host, page-locked until nothing refers to this object. It keeps the ring.

    They are locked as read-only memory if the driver can do that. Otherwise the ring must be pinnable.
    """

    def __init__(self, context: Context, ring: _native.Ring) -> None:
        address, length = ring.slots

        def lock(flags: int) -> None:
            with context.current() as call:
                call("cuMemHostRegister_v2", c_void_p(address), c_size_t(length), c_uint(_REGISTER_PORTABLE | flags))

        if context.call.attribute(_READ_ONLY_REGISTER, context.device):
            try:
                lock(_REGISTER_READ_ONLY)
            except GpuError:
                if not ring.pinnable:
                    raise
                ring.while_writable(lambda: lock(0))
        elif ring.pinnable:
            ring.while_writable(lambda: lock(0))
        else:
            raise GpuError(
                f"GPU {context.ordinal} cannot page-lock this ring, which is read-only here: it or its driver lacks "
                "READ_ONLY_HOST_REGISTER_SUPPORTED. Give the Loader pin_memory=True (a stream of `forebay serve` also "
                "needs pin_memory = true), or put the pixels in the GPU (placement). Copies to the GPU work without "
                "pin(), but the trainer waits for them"
            )
        unlock = functools.partial(context.call, "cuMemHostUnregister", c_void_p(address))
        weakref.finalize(self, give_back, context, unlock, ring).atexit = False
