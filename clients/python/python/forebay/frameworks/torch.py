"""PyTorch, as the trainer uses it beside a Loader. Tensors are made in `forebay.torch`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from forebay.frameworks.framework import Event, Framework

__all__ = ["Torch"]


class Torch(Framework):
    """PyTorch: it is never the cause that CUDA starts."""

    name = "torch"
    marks = "an event with query() and synchronize(), such as torch.cuda.Event"

    def uses_gpu(self) -> bool:
        """Whether CUDA is initialised."""
        return self._cuda() is not None

    def current_device(self) -> int | None:
        """`torch.cuda.current_device()`, if CUDA is initialised."""
        cuda = self._cuda()
        return None if cuda is None else cuda.current_device()

    def current_stream(self, device: int) -> int | None:
        """`torch.cuda.current_stream()`, if CUDA is initialised and the stream is not the default one."""
        cuda = self._cuda()
        return None if cuda is None else cuda.current_stream(device).cuda_stream or None

    def ranks(self) -> tuple[int, int, str] | None:
        """Those of `torch.distributed`, if its process group is initialised."""
        group = self._group()
        return None if group is None else (group.get_rank(), group.get_world_size(), "torch.distributed")

    def common_id(self) -> str | None:
        """Drawn by rank 0 of `torch.distributed`, which broadcasts it."""
        group = self._group()
        if group is None or group.get_world_size() < 2:
            return None
        drawn = [secrets.token_hex(16) if group.get_rank() == 0 else None]
        group.broadcast_object_list(drawn, src=0)
        return drawn[0]

    def event(self, mark: object) -> Event | None:
        """Any object with the methods of `torch.cuda.Event`."""
        has_both = all(callable(getattr(mark, method, None)) for method in ("query", "synchronize"))
        return cast(Event, mark) if has_both else None

    def dtype_name(self, dtype: object) -> str | None:
        """PyTorch prints its types as `torch.float16`, with numpy's names."""
        text = str(dtype)
        return text[len("torch.") :] if text.startswith("torch.") else None

    def as_picture(self, value: object) -> tuple[np.ndarray, Callable[[np.ndarray], Any]] | None:
        """A tensor of 3 x height x width, as torchvision has pictures."""
        torch = self.module
        if torch is None or not isinstance(value, torch.Tensor):
            return None
        if value.dtype != torch.uint8 or value.ndim != 3 or value.shape[0] != 3 or value.device.type != "cpu":
            given = f"{value.dtype} of {tuple(value.shape)} in {value.device}"
            raise ValueError(f"picture: give a uint8 tensor of 3 x height x width in the CPU's memory, not {given}")
        return value.permute(1, 2, 0).numpy(), lambda made: torch.from_numpy(made).permute(2, 0, 1).contiguous()

    def _group(self) -> Any:  # noqa: ANN401 - a module that may not be there
        distributed = getattr(self.module, "distributed", None)
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return None
        return distributed

    def _cuda(self) -> Any:  # noqa: ANN401 - a module that may not be installed
        cuda = getattr(self.module, "cuda", None)
        return cuda if cuda is not None and cuda.is_initialized() else None
