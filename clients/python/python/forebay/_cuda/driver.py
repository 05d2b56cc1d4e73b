"""The CUDA driver's library, opened on first use."""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import byref, c_char_p, c_int, c_uint
from typing import Any

from forebay.errors import GpuError

__all__ = ["Driver", "ForkedError", "NoDriverError", "driver"]

_LIBRARY = "libcuda.so.1"


class ForkedError(GpuError):
    """This process is a forked child of a process that had initialised CUDA."""


class NoDriverError(GpuError):
    """This machine has no CUDA driver, so it has no GPU that CUDA could use."""


class Driver:
    """The open library. Calling this object calls a function of the driver by its name.

    Attributes:
        pid: Process that initialised CUDA.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        path = os.environ.get("FOREBAY_CUDA_DRIVER", _LIBRARY)
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise NoDriverError(f"the CUDA driver cannot be opened: {error}") from None
        self("cuInit", c_uint(0))

    def __call__(self, name: str, *arguments: Any) -> None:  # noqa: ANN401 - whatever ctypes takes
        """Calls a function.

        Raises:
            GpuError: The call failed, the driver is too old to have the function, or this is a forked child.
        """
        code = self.ask(name, *arguments)
        if code:
            text = c_char_p()
            self.ask("cuGetErrorName", c_int(code), byref(text))
            raise GpuError(f"{name} failed with {(text.value or b'an unknown error').decode()} ({code})")

    def ask(self, name: str, *arguments: Any) -> int:  # noqa: ANN401
        """Calls a function and returns its status.

        Raises:
            GpuError: The driver is too old to have the function, or this is a forked child.
        """
        if os.getpid() != self.pid:
            raise ForkedError(
                f"CUDA does not work in process {os.getpid()}: it was forked from process {self.pid}, which had "
                'initialised CUDA. Start processes that use the GPU with the "spawn" method'
            )
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise GpuError(
                f"the CUDA driver is too old: it has no function {name}. Install driver 470 or later"
            ) from None
        status: int = function(*arguments)
        return status

    def attribute(self, number: int, device: c_int) -> int:
        """The value of a device attribute."""
        value = c_int()
        self("cuDeviceGetAttribute", byref(value), c_int(number), device)
        return value.value

    def device(self, ordinal: int) -> c_int:
        """The handle of the GPU with this number."""
        device = c_int()
        self("cuDeviceGet", byref(device), c_int(ordinal))
        return device


@functools.cache
def driver() -> Driver:
    """The driver of this process.

    Raises:
        GpuError: There is no driver, or CUDA cannot be initialised.
    """
    return Driver()
