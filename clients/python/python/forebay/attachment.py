"""How a Loader attaches: to which daemon, and what it tells that daemon of this process's GPUs."""

from __future__ import annotations

import logging
import os
import sysconfig
from typing import TYPE_CHECKING

from forebay import _native, frameworks
from forebay._command import binary
from forebay._cuda.context import gpus
from forebay._cuda.driver import ForkedError
from forebay.errors import AttachError, GpuError, SettingsError
from forebay.feed import Feed
from forebay.page import LoaderPage
from forebay.release import Releases
from forebay.rings import Rings

if TYPE_CHECKING:
    from forebay.called_here import CalledHere
    from forebay.settings import Request

__all__ = ["attach"]

_log = logging.getLogger("forebay")


def attach(
    asked: Request,
    socket: str | None,
    placement: str | None,
    *,
    writable: bool = False,
    steps: CalledHere | None = None,
) -> Feed:
    """Attaches to a stream of a running daemon, or to this process's own daemon.

    If the daemon's memory of a GPU cannot be mapped here and `placement` is "auto", it attaches again with the host.

    Args:
        asked: The stream, and its settings.
        socket: The daemon's, if the caller gave one.
        placement: Where the caller wants the pixels.
        writable: Whether batches are copies of the caller's own.
        steps: What calls functions of the transform list in this process.

    Raises:
        SettingsError: With every setting that is wrong.
        DatasetError: The dataset is missing, empty or unreadable.
        AttachError: No daemon could be reached or started, or it refused this trainer.
        GpuError: A ring cannot be mapped for a reason that no other placement helps against.
    """
    if os.environ.get("FOREBAY_CHILD"):
        raise AttachError(
            "this process calls functions of a transform list for a daemon, so it cannot have a Loader. If the module "
            'of such a function is a script, put what makes the Loader below `if __name__ == "__main__":`'
        )
    releases = Releases()
    rings = Rings(releases)
    session = _session(asked, socket, _gpus_for(asked, placement), steps)
    try:
        rings.follow(session, session.ring_changes())
    except GpuError as error:
        session.close()
        session = _session_in_host(asked, socket, placement, error, steps)
        rings.follow(session, session.ring_changes())
    shared = asked.stream is not None and asked.shard is None
    return Feed(session, rings, releases, _page(asked, socket), shared=shared, writable=writable, steps=steps)


def _page(asked: Request, socket: str | None) -> LoaderPage:
    """The page of the daemon: the service's, or that of this process's own daemon."""
    if asked.stream is None:
        return LoaderPage(["--pid", str(os.getpid())])
    return LoaderPage([] if socket is None else ["--socket-dir", os.path.dirname(socket)])


def _session(asked: Request, socket: str | None, gpus: list[bytes], steps: CalledHere | None) -> _native.Session:
    if asked.stream is not None:
        return _native.Session.stream(
            socket, asked.stream, asked.settings, asked.shard, gpus, asked.columns, asked.group, asked.late, asked.wait
        )
    daemon = binary(), list(asked.options), _packages()
    serves = None if steps is None else (steps.door, steps.serve)
    return _native.Session.private(daemon, asked.settings or "{}", asked.files, asked.shard, gpus, serves)


def _packages() -> list[str]:
    """The folders of this Python's packages. Some packages contain nvJPEG, such as those that PyTorch depends on."""
    return list(dict.fromkeys(sysconfig.get_path(name) for name in ("platlib", "purelib")))


def _session_in_host(
    asked: Request, socket: str | None, placement: str | None, error: GpuError, steps: CalledHere | None
) -> _native.Session:
    refusal = f"the daemon's memory of a GPU cannot be mapped here: {error}"
    if placement != "auto":
        raise AttachError(refusal) from error
    _log.warning("the pixels will be in memory of the host: %s", refusal)
    try:
        return _session(asked, socket, [], steps)
    except SettingsError:
        if asked.stream is None:
            raise
        raise AttachError(
            f"{refusal}. The stream {asked.stream!r} is in that memory for its other trainers. Fix this, or set "
            'placement = "host" in the daemon\'s configuration and restart the daemon'
        ) from error


def _gpus_for(asked: Request, placement: str | None) -> list[bytes]:
    """The GPUs that the daemon is told of. CUDA is not initialised for a trainer that does not use it."""
    # For a stream, the daemon's configuration decides on the placement.
    decided_there = placement is None and asked.stream is not None
    wanted = frameworks.use_gpu() if decided_there else placement not in (None, "host")
    try:
        return gpus() if wanted else []
    except ForkedError as error:
        if placement not in (None, "auto"):
            raise AttachError(f"placement={placement!r}: {error}") from error
    except GpuError:
        # The daemon reports more about any other reason.
        pass
    return []
