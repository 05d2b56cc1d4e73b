"""DLPack capsules for memory of a GPU.

numpy makes each capsule, as if the memory were the host's, and the device is set afterwards. A capsule's deleter may
run at any moment, in any thread of its consumer, and while an exception is handled. So it must be C, as numpy's is.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_uint8, c_void_p, py_object
from typing import Any

import numpy as np

__all__ = ["capsule"]


class _Tensor(ctypes.Structure):
    """The first fields of `DLTensor`, with which `DLManagedTensor` begins."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
    ]


# `kDLBfloat`. It has as many bits as the integers that hold it in numpy.
_BFLOAT = 4


# An own prototype: other packages may set the types of `ctypes.pythonapi`'s functions, which all packages share.
_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _Host:
    """Memory under the pretence that it is the host's. An array made of it keeps `owner`; nothing reads its values."""

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self._owner = owner


def capsule(interface: dict[str, Any], device: tuple[int, int], owner: object, *, bfloat16: bool) -> object:
    """A capsule for memory of a GPU.

    Args:
        interface: The memory's `__cuda_array_interface__`. It calls bfloat16 values integers of 16 bits.
        device: DLPack's type and number of the device.
        owner: Lives until the capsule's consumer is done.
        bfloat16: Whether the values are bfloat16.
    """
    made = np.asarray(_Host(interface, owner)).__dlpack__()
    tensor = _Tensor.from_address(_pointer(made, b"dltensor"))
    tensor.device_type, tensor.device_id = device
    if bfloat16:
        tensor.code = _BFLOAT
    return made
