"""Tensors that are filled place by place, in the host or on their way to a GPU."""

from __future__ import annotations

import numpy as np
import torch

from forebay.errors import SettingsError
from forebay.torch.tensors import tensor_of

__all__ = ["TensorRoom", "TensorRooms"]


class TensorRooms:
    """Makes room for tensors.

    Args:
        device_id: The GPU of the tensors. None is the host.

    Raises:
        SettingsError: PyTorch does not see this GPU.
    """

    def __init__(self, device_id: int | None) -> None:
        seen = torch.cuda.device_count()
        if device_id is not None and not 0 <= device_id < seen:
            raise SettingsError(
                f"device_id={device_id}: PyTorch sees {seen} GPUs. Without device_id, tensors are in the host"
            )
        self._device_id = device_id

    def room(self, shape: tuple[int, ...], dtype: np.dtype) -> TensorRoom:
        """Memory for a tensor."""
        return TensorRoom(shape, dtype, self._device_id)


class TensorRoom:
    """Memory that becomes a tensor.

    Attributes:
        array: Where to write. It is page-locked if the tensor will be in a GPU.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, device_id: int | None) -> None:
        self._device_id = device_id
        self._pinned: torch.Tensor | None = None
        if device_id is None:
            self.array = np.empty(shape, dtype)
            return
        # Bytes, since PyTorch does not have all of numpy's types.
        self._pinned = torch.empty(int(np.prod(shape)) * dtype.itemsize, dtype=torch.uint8, pin_memory=True)
        self.array = self._pinned.numpy().view(dtype).reshape(shape)

    def made(self) -> torch.Tensor:
        """The tensor, which shares this memory, or is a copy on its way to the GPU."""
        tensor = tensor_of(self.array)
        if self._pinned is None:
            return tensor
        # Of PyTorch's own tensor, PyTorch knows how long the copy needs the memory.
        own = self._pinned.view(tensor.dtype).reshape(tensor.shape)
        return own.to(f"cuda:{self._device_id}", non_blocking=True)
