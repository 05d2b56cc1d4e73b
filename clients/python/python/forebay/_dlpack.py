"""DLPack capsules by ctypes: the structs of `dlpack.h`, and what keeps the memory while a consumer has it."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object

import numpy as np

__all__ = ["capsule"]

_NAME = b"dltensor"
_UNSIGNED, _FLOAT = 1, 2


class _Tensor(ctypes.Structure):
    """`DLTensor`: the fields of `DLDevice` and `DLDataType` stand in it in their order."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(ctypes.Structure):
    """`DLManagedTensor`."""


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]
_Destructor = ctypes.PYFUNCTYPE(None, c_void_p)

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = py_object, [c_void_p, c_char_p, _Destructor]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [c_void_p, c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [c_void_p, c_char_p]

# By the struct's address: the struct, its shape, and the owner of the memory.
_lent: dict[int, tuple[object, ...]] = {}


@_Deleter
def _delete(managed: ctypes._Pointer[_Managed]) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


@_Destructor
def _destroy(unused: int) -> None:
    # A consumer that took the tensor has renamed the capsule, and calls the deleter itself.
    if _is_valid(unused, _NAME):
        _lent.pop(_pointer(unused, _NAME), None)


def capsule(
    address: int, shape: tuple[int, ...], dtype: np.dtype[np.generic], device: tuple[int, int], owner: object
) -> object:
    """A capsule for memory in one piece, which keeps `owner` until its consumer is done with it."""
    sizes = (c_int64 * len(shape))(*shape)
    code = _UNSIGNED if dtype.kind == "u" else _FLOAT
    tensor = _Tensor(address, *device, len(shape), code, dtype.itemsize * 8, 1, sizes, None, 0)
    managed = _Managed(tensor, None, _delete)
    place = ctypes.addressof(managed)
    _lent[place] = (managed, sizes, owner)
    return _new(ctypes.cast(byref(managed), c_void_p), _NAME, _destroy)
