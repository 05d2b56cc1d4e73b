"""Marks behind the work of a GPU: when a mark is reached, all work before it is done."""

from __future__ import annotations

import contextlib
import weakref
from ctypes import byref, c_int, c_uint, c_void_p

from forebay import frameworks
from forebay._cuda.context import Context
from forebay.errors import GpuError

__all__ = ["Event", "Everything", "mark"]

_EVENT_BLOCKING, _EVENT_DISABLE_TIMING = 1, 2
_LEGACY_STREAM = 1
_CAPTURED_EVENT = 907


class Event:
    """A mark behind all work that was queued on some streams of a GPU so far.

    Raises:
        GpuError: The mark cannot be made, or a graph is being captured on one of the streams. The mark would become a
            part of that graph.
    """

    def __init__(self, context: Context, streams: list[int]) -> None:
        self._context = context
        self._marks: list[c_void_p] = []
        with context.current() as call:
            for stream in map(c_void_p, streams):
                captures = c_int()
                # For the default stream, this call fails if a stream that waits for it is capturing. The capture itself
                # is not disturbed.
                call("cuStreamIsCapturing", stream, byref(captures))
                if captures.value:
                    raise GpuError("a graph is being captured")
        self._marks.extend(self._mark(c_void_p(stream)) for stream in streams)

    def query(self) -> bool:
        """Whether the work is known to be done. If it is not, `synchronize` raises the reason."""
        with self._context.current() as call:
            return all(call.ask("cuEventQuery", mark) == 0 for mark in self._marks)

    def synchronize(self) -> None:
        """Waits until the work is done.

        Raises:
            GpuError: The GPU has failed.
        """
        with self._context.current() as call:
            for mark in self._marks:
                # A capture that began after the check above has taken the mark. The GPU never reaches it then.
                captured = call.ask("cuEventQuery", mark) == _CAPTURED_EVENT
                call("cuCtxSynchronize") if captured else call("cuEventSynchronize", mark)

    def _mark(self, stream: c_void_p) -> c_void_p:
        mark = c_void_p()
        with self._context.current() as call:
            call("cuEventCreate", byref(mark), c_uint(_EVENT_BLOCKING | _EVENT_DISABLE_TIMING))
            weakref.finalize(self, _destroy, self._context, mark).atexit = False
            call("cuEventRecord", mark, stream)
        return mark


class Everything:
    """A mark for when no event can be made. It is reached once a caller has waited for all work of the GPU."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._done = False

    def query(self) -> bool:
        """Whether a caller has waited for the GPU."""
        return self._done

    def synchronize(self) -> None:
        """Waits for all work that the GPU has now.

        Raises:
            GpuError: The GPU cannot be waited for, or it has failed.
        """
        with self._context.current() as call:
            call("cuCtxSynchronize")
        self._done = True


def mark(context: Context, streams: list[int] | None = None) -> Event | Everything:
    """A mark behind all work that the GPU has on these streams.

    Without `streams`, these are the default stream and the current stream of each framework that names one. Most other
    streams wait for the default stream. Streams that a library has made not to wait are missed: their users give
    `Batch.release()` an event.
    """
    try:
        return Event(context, _streams(context.ordinal) if streams is None else streams)
    except Exception:
        # The GPU may have work all the same: no event can be made while a graph is captured, or if memory is short.
        return Everything(context)


def _streams(ordinal: int) -> list[int]:
    return [_LEGACY_STREAM, *frameworks.current_streams(ordinal)]


def _destroy(context: Context, mark: c_void_p) -> None:
    with contextlib.suppress(GpuError), context.current() as call:
        call("cuEventDestroy_v2", mark)
