"""Pixels in memory of a GPU, for every framework that knows `__cuda_array_interface__` or DLPack."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from forebay import _cuda
from forebay._dlpack import capsule
from forebay.dtype import BFLOAT16_BITS

if TYPE_CHECKING:
    from forebay import _native
    from forebay.lease import Lease

__all__ = ["GpuArray", "GpuRings"]

# By DLPack's numbers as by CUDA's.
_DEFAULT_STREAM = 1


class GpuArray:
    """Pictures of a batch in memory of a GPU.

    Frameworks take it without a copy: `torch.as_tensor(array, device="cuda")`, `cupy.asarray(array)`,
    `jax.dlpack.from_dlpack(array)`. It may be read on any stream: what stands there was complete before the batch came.
    It must not be written, since other trainers may read it as well.

    The slot is held for as long as this object, or a tensor made of it, lives, and then until the GPU has done all that
    it was given until then on the default stream and on PyTorch's current one: the one that is current in the thread,
    and at the moment, in which the last reference goes. Whoever reads it on other streams, as CuPy and JAX may or as
    side streams of PyTorch do, gives `Batch.release(after=...)` a mark of theirs, or waits for them.

    Example:
        >>> for batch in loader:                                                        # doctest: +SKIP
        ...     images = cupy.array(batch.images)                       # a copy, on CuPy's current stream
        ...     batch.release(after=cupy.cuda.get_current_stream().record())
        >>> for batch in loader:                                                        # doctest: +SKIP
        ...     images = jax.numpy.array(jax.dlpack.from_dlpack(batch.images))          # a copy, on JAX's stream
        ...     batch.release(after=images)

    bfloat16 is typed in DLPack alone: `torch.from_dlpack(array)`. `__cuda_array_interface__` has no name for it and
    says "<i2", of which `torch.as_tensor(array, device="cuda").view(torch.bfloat16)` makes the same.

    Attributes:
        shape: As of a batch's images in the host.
        dtype: Likewise; uint16 stands for bfloat16.
        device: Number of the GPU in this process.
    """

    __slots__ = ("__weakref__", "_address", "_lease", "_memory", "device", "dtype", "shape")

    def __init__(
        self, memory: _cuda.Memory, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], lease: Lease
    ) -> None:
        self._memory = memory
        self._address = address
        self._lease = lease
        self.shape = shape
        self.dtype = dtype
        self.device: int = memory.context.ordinal

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3. It says that the memory may be written, since PyTorch takes no other."""
        data = (self._address, False)
        # PyTorch before 2.3 has no uint16.
        typestr = "<i2" if self.dtype == BFLOAT16_BITS else self.dtype.str
        return {"shape": self.shape, "typestr": typestr, "data": data, "strides": None, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        """kDLCUDA, and the GPU's number."""
        return 2, self.device

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A DLPack capsule.

        Args:
            stream: Of the consumer, by DLPack's numbers. What stands here is there for each of them.
            max_version: Capsules are of the first version, which all consumers know.
            dl_device: None, or this device.
            copy: True gives memory of its own in the same GPU, copied on `stream`, which the consumer may write and
                keep. Frameworks copy faster into memory that they have already: see docs/operating.md.

        Raises:
            BufferError: Memory of another device is asked for.
            GpuError: There is no memory for a copy.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"these pixels stand on cuda:{self.device}: move the tensor that is made of them")
        interface = self.__cuda_array_interface__
        owner: GpuArray | _cuda.Copy = self
        if copy:
            owner = copied = self._copied(stream)
            interface["data"] = (copied.address, False)
        bfloat16 = self.dtype == BFLOAT16_BITS
        return capsule(interface, self.__dlpack_device__(), owner, bfloat16=bfloat16)

    def _copied(self, stream: Any) -> _cuda.Copy:  # noqa: ANN401 - None or a number, by DLPack
        context = self._memory.context
        # None is the default stream; -1 asks to be handed what is there already.
        on = _DEFAULT_STREAM if stream in (None, -1) else int(stream)
        number = self._lease.begin()
        copied = _cuda.Copy(context, self._address, self.nbytes, on)
        mark = _cuda.mark(context, [on])
        self._lease.until(number, mark)
        if stream == -1:
            mark.synchronize()
        return copied

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refused, as a copy to the host that nobody has asked for."""
        raise TypeError("these pixels stand in memory of a GPU: use .numpy() for a copy in the host")

    def numpy(self) -> np.ndarray:
        """A copy in memory of the host."""
        array = np.empty(self.shape, self.dtype)
        self._memory.read(self._address - self._memory.address, self.nbytes, array.ctypes.data)
        return array

    def first(self, count: int) -> GpuArray:
        """The first pictures, without a copy."""
        return GpuArray(self._memory, self._address, (count, *self.shape[1:]), self.dtype, self._lease)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<forebay.gpu.GpuArray {self.shape} of {self.dtype} on cuda:{self.device}>"


class GpuRings:
    """The rings of a Loader, and of those whose pixels stand in memory of a GPU that memory, mapped in this process."""

    def __init__(self) -> None:
        self._memories: dict[int, _cuda.Memory | None] = {}

    def cover(self, rings: list[_native.Ring]) -> None:
        """Maps those that are new, and lets go of those that are no more.

        Raises:
            GpuError: One of them cannot be mapped. Nothing has changed then.
        """
        self._memories = {ring.number: self._memories.get(ring.number) or _mapped(ring) for ring in rings}

    @property
    def device(self) -> int | None:
        """Number of the GPU in this process; None in the host."""
        return next((memory.context.ordinal for memory in self._memories.values() if memory is not None), None)

    def context(self, number: int) -> _cuda.Context | None:
        """Of the GPU in which the ring's pixels stand; None in the host."""
        memory = self._memories.get(number)
        return None if memory is None else memory.context

    def array(self, view: _native.GpuView, lease: Lease) -> GpuArray:
        """The images of a batch, whose ring is covered."""
        memory = self._memories[view.ring]
        assert memory is not None, "a view in a GPU is of a ring that has memory there"
        return GpuArray(memory, memory.address + view.offset, tuple(view.shape), np.dtype(view.typestr), lease)


def _mapped(ring: _native.Ring) -> _cuda.Memory | None:
    if ring.gpu is None:
        return None
    uuid, total, descriptor = ring.gpu
    return _cuda.Memory(_cuda.context(_cuda.ordinal_of(uuid)), descriptor, total)
