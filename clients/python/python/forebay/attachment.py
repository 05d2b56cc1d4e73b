"""How a Loader attaches: to which daemon, and what that is told of this process's GPUs."""

from __future__ import annotations

import logging
import sys
import sysconfig
from typing import TYPE_CHECKING

from forebay import _cuda, _native
from forebay._command import binary
from forebay.errors import AttachError, GpuError, SettingsError

if TYPE_CHECKING:
    from forebay.settings import Request

__all__ = ["attach", "attach_to_host", "gpus_for"]

_log = logging.getLogger("forebay")


def attach(asked: Request, socket: str | None, gpus: list[bytes]) -> _native.Session:
    """Attaches to a stream of a daemon that runs, or to this process's own daemon."""
    if asked.stream is not None:
        return _native.Session.stream(socket, asked.stream, asked.settings, asked.shard, gpus)
    daemon = binary(), list(asked.options), packages()
    return _native.Session.private(daemon, asked.settings or "{}", asked.files, asked.shard, gpus)


def packages() -> list[str]:
    """Folders of this Python's packages, some of which carry nvJPEG: PyTorch's, for one."""
    return list(dict.fromkeys(sysconfig.get_path(name) for name in ("platlib", "purelib")))


def attach_to_host(asked: Request, socket: str | None, placement: str | None, error: GpuError) -> _native.Session:
    """Attaches once more, where the daemon's memory of a GPU cannot be mapped here and another place will do."""
    refusal = f"the daemon's memory of a GPU cannot be mapped here: {error}"
    if placement != "auto":
        raise AttachError(refusal) from error
    _log.warning("the pixels are to stand in memory of the host: %s", refusal)
    try:
        return attach(asked, socket, [])
    except SettingsError:
        if asked.stream is None:
            raise
        raise AttachError(
            f'{refusal}. The stream {asked.stream!r} is in that memory for its other trainers: set placement = "host" '
            "in the daemon's configuration and restart the daemon, or fix what keeps this process from mapping it"
        ) from error


def gpus_for(asked: Request, placement: str | None) -> list[bytes]:
    """The GPUs that the daemon is told of. CUDA is not started for trainers that have no use for it."""
    if placement is None and asked.stream is not None:
        # The stream's own placement decides, for trainers that use a GPU already.
        torch = getattr(sys.modules.get("torch"), "cuda", None)
        wanted = (torch is not None and torch.is_initialized()) or "cupy" in sys.modules or "jax" in sys.modules
    else:
        wanted = placement not in (None, "host")
    try:
        return _cuda.gpus() if wanted else []
    except _cuda.ForkedError as error:
        if placement not in (None, "auto"):
            raise AttachError(f"placement={placement!r}: {error}") from error
    except GpuError:
        # Of what else stands against a GPU the daemon says more.
        pass
    return []
