"""DLPack capsules for memory of a GPU.

numpy makes them, as of memory of the host, and the device is set afterwards. What lets go of an unused capsule, or of a
tensor in whatever thread of its consumer, runs at any moment, also while an exception is under way: it must be C.
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


# `kDLBfloat`, of as many bits as the integers that stand for it.
_BFLOAT = 4


# A prototype of our own: `ctypes.pythonapi`'s functions are shared with everybody who sets their types.
_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class _Host:
    """Says of memory that it is the host's. An array made of it keeps `owner`, and is never looked into."""

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self._owner = owner


def capsule(interface: dict[str, Any], device: tuple[int, int], owner: object, *, bfloat16: bool) -> object:
    """A capsule for the memory of a `__cuda_array_interface__`, which keeps `owner` until its consumer is done.

    Args:
        interface: Of whole numbers of 16 bits where the values are bfloat16, which it has no name for.
        device: Type and number.
        owner: Is kept.
        bfloat16: Whether they are.
    """
    made = np.asarray(_Host(interface, owner)).__dlpack__()
    tensor = _Tensor.from_address(_pointer(made, b"dltensor"))
    tensor.device_type, tensor.device_id = device
    if bfloat16:
        tensor.code = _BFLOAT
    return made
