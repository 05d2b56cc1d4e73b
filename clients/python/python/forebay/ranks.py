"""Which of several processes that train together this one is."""

from __future__ import annotations

import sys

__all__ = ["torch_ranks"]


def torch_ranks() -> tuple[int, int] | None:
    """Rank and world size where the caller has imported PyTorch and initialised its process group."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()
