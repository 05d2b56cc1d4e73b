"""Paddle, as the trainer uses it beside a Loader. Tensors are made in `forebay.paddle`."""

from __future__ import annotations

from forebay.frameworks.framework import Framework

__all__ = ["Paddle"]


class Paddle(Framework):
    """Paddle: its tensors are copies in the host, so its pixels are always there."""

    name = "paddle"

    def ranks(self) -> tuple[int, int, str] | None:
        """Those of `paddle.distributed`, if `init_parallel_env()` was called."""
        distributed = getattr(self.module, "distributed", None)
        if distributed is None or not distributed.is_initialized():
            return None
        return distributed.get_rank(), distributed.get_world_size(), "paddle.distributed"

    def dtype_name(self, dtype: object) -> str | None:
        """Paddle prints its types as `paddle.float16`, with numpy's names."""
        text = str(dtype)
        return text[len("paddle.") :] if text.startswith("paddle.") else None
