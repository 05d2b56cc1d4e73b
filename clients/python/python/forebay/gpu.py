"""Images in memory of a GPU, for every framework that knows `__cuda_array_interface__` or DLPack."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from forebay._cuda.context import Context, context, ordinal_of
from forebay._cuda.mark import mark
from forebay._cuda.memory import Copy, Memory
from forebay._dlpack import capsule
from forebay.dtype import BFLOAT16_BITS

if TYPE_CHECKING:
    from forebay import _native
    from forebay.hold import Hold

__all__ = ["GpuArray", "GpuRings"]

# DLPack and CUDA have the same number for it.
_DEFAULT_STREAM = 1


class GpuArray:
    """The images of a batch in memory of a GPU.

    Frameworks read it without a copy: `torch.as_tensor(array, device="cuda")`, `cupy.asarray(array)`,
    `jax.dlpack.from_dlpack(array)`. Any stream may read it, since the pixels were complete before the batch arrived. Do
    not write to it: other trainers may read the same memory.

    The slot stays in use as long as this object, or a tensor made of it, lives. After that, Forebay waits for the work
    that the GPU has by then on two streams. These are the default stream, and PyTorch's current stream in the thread
    that dropped the last reference. CuPy and JAX may read the array on other streams. Then pass a mark of that stream
    to `Batch.release(after=...)`, or wait for the stream before you drop the array.

    bfloat16 has a name only in DLPack: use `torch.from_dlpack(array)`. `__cuda_array_interface__` says "<i2" instead,
    and `torch.as_tensor(array, device="cuda").view(torch.bfloat16)` gives the same tensor.

    Attributes:
        shape: `(n, height, width, 3)`, or `(n, 3, height, width)` with `layout="NCHW"`.
            Other modes than "RGB" have other channels in place of 3.
        dtype: numpy's type of the values. uint16 means the bits of bfloat16.
        device: Number of the GPU in this process.

    Example:
        >>> for batch in loader:                                                        # doctest: +SKIP
        ...     images = cupy.array(batch.images)                       # a copy, on CuPy's current stream
        ...     batch.release(after=cupy.cuda.get_current_stream().record())
        >>> for batch in loader:                                                        # doctest: +SKIP
        ...     images = jax.numpy.array(jax.dlpack.from_dlpack(batch.images))          # a copy, on JAX's stream
        ...     batch.release(after=images)
    """

    __slots__ = ("__weakref__", "_address", "_hold", "_memory", "device", "dtype", "shape")

    def __init__(self, memory: Memory, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], hold: Hold) -> None:
        self._memory = memory
        self._address = address
        self._hold = hold
        self.shape = shape
        self.dtype = dtype
        self.device: int = memory.context.ordinal

    @property
    def nbytes(self) -> int:
        """Number of bytes of all values."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3. It calls the memory writable, because PyTorch refuses read-only memory."""
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
            stream: The consumer's stream, as DLPack numbers it. The pixels are complete for every stream.
            max_version: Ignored: capsules are of DLPack's first version, which all consumers know.
            dl_device: None, or this device.
            copy: True makes a copy in the same GPU on `stream`. The consumer may write and keep it. Frameworks copy
                faster into memory that they have allocated already: see docs/operating.md.

        Raises:
            BufferError: `dl_device` is another device.
            GpuError: The GPU has no memory for a copy.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"these images are on cuda:{self.device}: make a tensor of them there, and move that")
        interface = self.__cuda_array_interface__
        owner: GpuArray | Copy = self
        if copy:
            owner = copied = self._copied(stream)
            interface["data"] = (copied.address, False)
        bfloat16 = self.dtype == BFLOAT16_BITS
        return capsule(interface, self.__dlpack_device__(), owner, bfloat16=bfloat16)

    def _copied(self, stream: Any) -> Copy:  # noqa: ANN401 - None or a number, by DLPack
        context = self._memory.context
        # None is the default stream. With -1, the consumer waits for nothing, so the copy must be complete on return.
        on = _DEFAULT_STREAM if stream in (None, -1) else int(stream)
        number = self._hold.begin()
        copied = Copy(context, self._address, self.nbytes, on)
        end = mark(context, [on])
        self._hold.until(number, end)
        if stream == -1:
            end.synchronize()
        return copied

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refused: numpy would copy to the host without being asked to.

        Raises:
            TypeError: Always.
        """
        raise TypeError("these images are in memory of a GPU: use .numpy() for a copy in the host")

    def numpy(self) -> np.ndarray:
        """A copy in memory of the host, with the same shape and type.

        Raises:
            GpuError: The GPU has failed.
        """
        array = np.empty(self.shape, self.dtype)
        self._memory.read(self._address - self._memory.address, self.nbytes, array.ctypes.data)
        return array

    def first(self, count: int) -> GpuArray:
        """The first `count` images, without a copy."""
        return GpuArray(self._memory, self._address, (count, *self.shape[1:]), self.dtype, self._hold)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<forebay.gpu.GpuArray {self.shape} of {self.dtype} on cuda:{self.device}>"


class GpuRings:
    """The rings of a Loader. Those whose pixels are in a GPU are mapped into this process."""

    def __init__(self) -> None:
        self._memories: dict[int, Memory | None] = {}

    def cover(self, rings: list[_native.Ring]) -> None:
        """Maps rings that are new, and unmaps rings that are gone.

        Raises:
            GpuError: A ring cannot be mapped. Nothing has changed then.
        """
        self._memories = {ring.number: self._memories.get(ring.number) or _mapped(ring) for ring in rings}

    @property
    def device(self) -> int | None:
        """Number in this process of the GPU that has the pixels; None if they are in the host."""
        return next((memory.context.ordinal for memory in self._memories.values() if memory is not None), None)

    def context(self, number: int) -> Context | None:
        """Context of the GPU that has a ring's pixels; None if they are in the host."""
        memory = self._memories.get(number)
        return None if memory is None else memory.context

    def array(self, view: _native.GpuView, hold: Hold) -> GpuArray:
        """The images of a batch. Its ring must have been covered."""
        memory = self._memories[view.ring]
        assert memory is not None, "the ring of a GPU view is in that GPU"
        return GpuArray(memory, memory.address + view.offset, tuple(view.shape), np.dtype(view.typestr), hold)


def _mapped(ring: _native.Ring) -> Memory | None:
    if ring.gpu is None:
        return None
    uuid, total, descriptor = ring.gpu
    return Memory(context(ordinal_of(uuid)), descriptor, total)
