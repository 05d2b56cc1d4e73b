"""The functions of the CUDA driver that a trainer needs to map a GPU ring and to lock pages, by ctypes.

Everything happens in the GPU's primary context, which is the one that PyTorch, CuPy and JAX use. The driver's own
functions are called, not the CUDA runtime's: a call of the runtime that fails is reported once more by whatever PyTorch
launches next.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import weakref
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from forebay._remains import give_back
from forebay.errors import GpuError

if TYPE_CHECKING:
    from forebay import _native

__all__ = [
    "Context",
    "Copy",
    "Event",
    "Everything",
    "ForkedError",
    "Memory",
    "Pinned",
    "context",
    "current_device",
    "gpus",
    "mark",
    "ordinal_of",
]

_LIBRARY = "libcuda.so.1"
_POSIX_DESCRIPTOR = 1
_READ_ONLY_REGISTER = 113
_REGISTER_PORTABLE, _REGISTER_READ_ONLY = 1, 8
_EVENT_BLOCKING, _EVENT_DISABLE_TIMING = 1, 2
_LEGACY_STREAM = 1
_CAPTURED_EVENT = 907


class _Location(ctypes.Structure):
    """`CUmemLocation`."""

    _fields_ = [("kind", c_int), ("device", c_int)]


class _Access(ctypes.Structure):
    """`CUmemAccessDesc`."""

    _fields_ = [("location", _Location), ("flags", c_int)]


class ForkedError(GpuError):
    """This process is a child of one that had started CUDA."""


class _Driver:
    def __init__(self) -> None:
        self.pid = os.getpid()
        path = os.environ.get("FOREBAY_CUDA_DRIVER", _LIBRARY)
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise GpuError(f"the CUDA driver cannot be opened: {error}") from None
        self("cuInit", c_uint(0))

    def __call__(self, name: str, *arguments: Any) -> None:  # noqa: ANN401 - whatever ctypes takes
        """Calls a function.

        Raises:
            GpuError: It failed, or the driver is too old to have it, or this is a forked child.
        """
        code = self.ask(name, *arguments)
        if code:
            text = c_char_p()
            self.ask("cuGetErrorName", c_int(code), byref(text))
            raise GpuError(f"{name} failed with {(text.value or b'an unknown error').decode()} ({code})")

    def ask(self, name: str, *arguments: Any) -> int:  # noqa: ANN401
        """Calls a function and gives its status."""
        if os.getpid() != self.pid:
            raise ForkedError(
                f"CUDA does not work in process {os.getpid()}, which was forked from {self.pid} after that had started "
                'it: start processes that use the GPU by "spawn"'
            )
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise GpuError(
                f"the CUDA driver has no function {name}: it is too old; install driver 470 or later"
            ) from None
        return function(*arguments)

    def attribute(self, number: int, device: c_int) -> int:
        value = c_int()
        self("cuDeviceGetAttribute", byref(value), c_int(number), device)
        return value.value

    def device(self, ordinal: int) -> c_int:
        device = c_int()
        self("cuDeviceGet", byref(device), c_int(ordinal))
        return device


class Context:
    """The primary context of a GPU. It is kept until the process ends, as the frameworks keep it.

    Attributes:
        ordinal: The GPU's number in this process.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.call = _driver()
        self.device = self.call.device(ordinal)
        self._raw = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self._raw), self.device)

    def is_forked(self) -> bool:
        """Whether this is a child of the process that it is of."""
        return os.getpid() != self.call.pid

    @contextlib.contextmanager
    def current(self) -> Iterator[_Driver]:
        """Makes it the thread's context for a while, without a change for anybody else.

        Raises:
            GpuError: This is a forked child, in which CUDA does not work and nothing is its own.
        """
        self.call("cuCtxPushCurrent_v2", self._raw)
        try:
            yield self.call
        finally:
            self.call("cuCtxPopCurrent_v2", byref(c_void_p()))


class Memory:
    """Memory of a GPU that another process has made, mapped here.

    It stays mapped until nothing refers to it any more, and it outlives its maker.

    Attributes:
        context: Of the GPU that it is of.
        address: Where it begins, for kernels and copies of this process.
        length: Its bytes.
    """

    def __init__(self, context: Context, descriptor: int, length: int) -> None:
        self.context = context
        self.length = length
        with context.current() as call, contextlib.ExitStack() as steps:
            handle, address = c_uint64(), c_uint64()
            call("cuMemImportFromShareableHandle", byref(handle), c_void_p(descriptor), c_int(_POSIX_DESCRIPTOR))
            # The mapping keeps the memory; the handle is needed no longer than this.
            steps.callback(call, "cuMemRelease", handle)
            size = c_size_t(length)
            with contextlib.ExitStack() as undo:
                call("cuMemAddressReserve", byref(address), size, c_size_t(0), c_uint64(0), c_uint64(0))
                undo.callback(call, "cuMemAddressFree", address, size)
                call("cuMemMap", address, size, c_size_t(0), handle, c_uint64(0))
                undo.callback(call, "cuMemUnmap", address, size)
                access = _Access(_Location(1, context.device), 3)
                call("cuMemSetAccess", address, size, byref(access), c_size_t(1))
                # At the end of the process the driver gives everything back by itself, if it is still there.
                weakref.finalize(self, give_back, context, undo.pop_all().close).atexit = False
        self.address: int = address.value

    def read(self, offset: int, length: int, to: int) -> None:
        """Copies to an address of the host, and waits for it."""
        with self.context.current() as call:
            call("cuMemcpyDtoH_v2", c_void_p(to), c_uint64(self.address + offset), c_size_t(length))


class Copy:
    """A copy of memory of a GPU in the same GPU, on a stream, until nothing refers to it any more.

    Attributes:
        address: Where it begins.
    """

    def __init__(self, context: Context, address: int, length: int, stream: int) -> None:
        own, size = c_uint64(), c_size_t(length)
        with context.current() as call:
            call("cuMemAlloc_v2", byref(own), size)
            # Whoever has it may let go of it before the GPU does.
            free = functools.partial(call, "cuMemFree_v2", own)
            weakref.finalize(self, give_back, context, free).atexit = False
            call("cuMemcpyDtoDAsync_v2", own, c_uint64(address), size, c_void_p(stream))
        self.address: int = own.value


class Pinned:
    """The slots of a ring in the host, page-locked until nothing refers to this object, which keeps the ring.

    Locked as memory that is only read, where that works. Else the ring has to be pinnable.
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
                f"GPU {context.ordinal} or its driver cannot page-lock memory that may only be read, as this ring's is "
                "(it lacks READ_ONLY_HOST_REGISTER_SUPPORTED). Give the Loader pin_memory=True, and its stream of a "
                "service pin_memory = true, or let the pixels stand in the GPU (placement). Without pin(), copies to "
                "the GPU work, and wait"
            )
        unlock = functools.partial(context.call, "cuMemHostUnregister", c_void_p(address))
        weakref.finalize(self, give_back, context, unlock, ring).atexit = False


class Event:
    """A mark behind all work that was given to streams of a GPU so far.

    Raises:
        GpuError: It cannot be made, or a graph is captured on such a stream: the mark would become a part of the graph.
    """

    def __init__(self, context: Context, streams: list[int]) -> None:
        self._context = context
        self._marks: list[c_void_p] = []
        with context.current() as call:
            for stream in map(c_void_p, streams):
                captures = c_int()
                # Of the default stream it fails where a stream that waits for that one captures; the capture goes on.
                call("cuStreamIsCapturing", stream, byref(captures))
                if captures.value:
                    raise GpuError("a graph is being captured")
        self._marks.extend(self._mark(c_void_p(stream)) for stream in streams)

    def query(self) -> bool:
        """Whether the work is known to be done. Why it is not, `synchronize` tells."""
        with self._context.current() as call:
            return all(call.ask("cuEventQuery", mark) == 0 for mark in self._marks)

    def synchronize(self) -> None:
        """Waits until the work is done."""
        with self._context.current() as call:
            for mark in self._marks:
                # A capture has taken it that began after it was asked about, and it is never reached.
                captured = call.ask("cuEventQuery", mark) == _CAPTURED_EVENT
                call("cuCtxSynchronize") if captured else call("cuEventSynchronize", mark)

    def _mark(self, stream: c_void_p) -> c_void_p:
        mark = c_void_p()
        with self._context.current() as call:
            call("cuEventCreate", byref(mark), c_uint(_EVENT_BLOCKING | _EVENT_DISABLE_TIMING))
            weakref.finalize(self, _destroy, self._context, mark).atexit = False
            call("cuEventRecord", mark, stream)
        return mark


class Everything:
    """Stands for an event that could not be made: reached when the GPU was once seen to have nothing to do."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._done = False

    def query(self) -> bool:
        """Whether somebody has waited for it."""
        return self._done

    def synchronize(self) -> None:
        """Waits until all work is done that the GPU was given so far.

        Raises:
            GpuError: The GPU does not say so.
        """
        with self._context.current() as call:
            call("cuCtxSynchronize")
        self._done = True


def mark(context: Context, streams: list[int] | None = None) -> Event | Everything:
    """A mark behind all work that the GPU was given so far on these streams.

    Without streams it is the default stream, behind which all others wait unless they were made not to, and PyTorch's
    current one. Streams that another library has made not to wait are not seen: give `release()` an event of theirs.
    """
    try:
        return Event(context, _streams(context.ordinal) if streams is None else streams)
    except Exception:
        # There may be work all the same: events cannot be made while a graph is captured, or where memory is short.
        return Everything(context)


@functools.cache
def _driver() -> _Driver:
    return _Driver()


@functools.cache
def context(ordinal: int) -> Context:
    """The primary context of the GPU with this number.

    Raises:
        GpuError: There is no such GPU, or it cannot be used.
    """
    return Context(ordinal)


def gpus() -> list[bytes]:
    """UUIDs of the GPUs that this process sees, the one that PyTorch uses first.

    Raises:
        GpuError: CUDA does not work here.
    """
    found = _uuids()
    current = current_device()
    return found[current : current + 1] + found[:current] + found[current + 1 :]


def current_device() -> int:
    """Number of the GPU that PyTorch uses now, else 0."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return cuda.current_device() if cuda is not None and cuda.is_initialized() else 0


def ordinal_of(uuid: bytes) -> int:
    """The number that this process has for a GPU.

    Raises:
        GpuError: It does not see it.
    """
    found = _uuids()
    if uuid not in found:
        raise GpuError(f"this process does not see the GPU with the UUID {uuid.hex()}")
    return found.index(uuid)


def _uuids() -> list[bytes]:
    call = _driver()
    count = c_int()
    call("cuDeviceGetCount", byref(count))

    def uuid(ordinal: int) -> bytes:
        room = ctypes.create_string_buffer(16)
        call("cuDeviceGetUuid_v2", room, call.device(ordinal))
        return room.raw

    return [uuid(ordinal) for ordinal in range(count.value)]


def _streams(ordinal: int) -> list[int]:
    """The default stream, and PyTorch's current one."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return [_LEGACY_STREAM]
    return [_LEGACY_STREAM, *filter(None, [cuda.current_stream(ordinal).cuda_stream])]


def _destroy(context: Context, mark: c_void_p) -> None:
    with contextlib.suppress(GpuError), context.current() as call:
        call("cuEventDestroy_v2", mark)
