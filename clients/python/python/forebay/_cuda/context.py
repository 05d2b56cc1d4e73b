"""The GPUs that this process sees, and their primary contexts."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterator
from ctypes import byref, c_int, c_void_p

from forebay import frameworks
from forebay._cuda.driver import Driver, driver
from forebay.errors import GpuError

__all__ = ["Context", "context", "gpus", "ordinal_of"]


class Context:
    """The primary context of a GPU. Like the frameworks, it keeps that context until the process ends.

    Attributes:
        ordinal: The GPU's number in this process.
        device: The GPU's handle.
        call: The driver.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.call = driver()
        self.device = self.call.device(ordinal)
        self._raw = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self._raw), self.device)

    def is_forked(self) -> bool:
        """Whether this process is a forked child of the process that made the context."""
        return os.getpid() != self.call.pid

    @contextlib.contextmanager
    def current(self) -> Iterator[Driver]:
        """Makes this the thread's current context inside a `with`, and restores the previous one afterwards.

        Raises:
            GpuError: This is a forked child, in which CUDA does not work.
        """
        self.call("cuCtxPushCurrent_v2", self._raw)
        try:
            yield self.call
        finally:
            self.call("cuCtxPopCurrent_v2", byref(c_void_p()))


@functools.cache
def context(ordinal: int) -> Context:
    """The primary context of the GPU with this number.

    Raises:
        GpuError: There is no such GPU, or it cannot be used.
    """
    return Context(ordinal)


def gpus() -> list[bytes]:
    """UUIDs of the GPUs that this process sees. The one that a framework uses now comes first.

    Raises:
        GpuError: CUDA does not work here.
    """
    found = _uuids()
    current = frameworks.current_device()
    return found[current : current + 1] + found[:current] + found[current + 1 :]


def ordinal_of(uuid: bytes) -> int:
    """The number of a GPU in this process.

    Raises:
        GpuError: This process does not see that GPU.
    """
    found = _uuids()
    if uuid not in found:
        raise GpuError(f"this process does not see the GPU with the UUID {uuid.hex()}")
    return found.index(uuid)


def _uuids() -> list[bytes]:
    call = driver()
    count = c_int()
    call("cuDeviceGetCount", byref(count))

    def uuid(ordinal: int) -> bytes:
        room = ctypes.create_string_buffer(16)
        call("cuDeviceGetUuid_v2", room, call.device(ordinal))
        return room.raw

    return [uuid(ordinal) for ordinal in range(count.value)]
