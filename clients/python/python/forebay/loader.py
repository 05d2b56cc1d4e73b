"""The Loader: batches of a source, epoch by epoch."""

from __future__ import annotations

import functools
import os
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, NoReturn

from forebay import _native
from forebay.attachment import attach, attach_to_host, gpus_for
from forebay.audit import EpochAudit, QuarantinedRecord
from forebay.batch import Batch
from forebay.epoch import Epoch
from forebay.errors import GpuError, SlotsHeld
from forebay.ranks import torch_ranks
from forebay.release import Releases
from forebay.rings import Rings
from forebay.settings import Source, refuse_unsharded, request
from forebay.state import pack, unpack

if TYPE_CHECKING:
    from typing_extensions import Self

    from forebay.torch import TorchLoader
    from forebay.transforms import Size, Transform

__all__ = ["Loader"]


def _remember_given(init: Callable[..., None]) -> Callable[..., None]:
    """Notes which settings the caller wrote down: a stream's settings must agree with those and with no defaults."""

    @functools.wraps(init)
    def wrapper(self: Loader, source: Source, **given: Any) -> None:  # noqa: ANN401 - checked by `init`
        self._given = given
        init(self, source, **given)

    return wrapper


class Loader:
    """Batches of decoded pictures.

    One `for` over a Loader is one epoch. Epochs belong to the stream: a `for` joins the current one, and leaving it
    early leaves the batch in hand held; the next `for` goes on in the same epoch.

    Args:
        source: A folder (of pictures, or of class folders), a CSV file, a list of files, a URL, or `stream:NAME` of
            a running `forebay serve`. Anything but a stream is served by a daemon of this process's own, which is
            started at need and gone with the process.
        batch_size: Pictures in a batch. With size and transform it may be left out for a stream, and must agree if
            it is given.
        size: Side of the square pictures, or (height, width): RandomResizedCrop and flip with `shuffle=True`, Resize
            and CenterCrop without.
        transform: A list of `forebay.transforms` in place of `size`.
        shuffle: Every epoch in an order of its own.
        seed: Of the order and of the random transforms.
        epochs: Number of epochs in all; afterwards a `for` yields nothing. None is without end.
        run: Name of a run that is kept on disk and gone on with. None is a fresh one.
        shard_id: Which of `num_shards` equal parts of the dataset this Loader reads.
        num_shards: Number of parts; `num_shards=1` alone lets several trainers share one stream.
        stick_to_shard: The same part in every epoch; else the parts rotate.
        pad_last_batch: With shards: all have the same number of batches, the last record is repeated.
        last_batch_policy: "partial" shows the records that there are, "fill" repeats the last, "drop" leaves them out.
        prefetch_queue_depth: Batches that are made ahead.
        num_threads: Decoding threads. None takes the machine's cores, divided by `LOCAL_WORLD_SIZE`.
        lanes: Ways to decode: "auto" for NVIDIA's JPEG engines where this machine has any, and the CPU; or a list such
            as `["hardware", "cpu"]`, of which each has to be there. None is the CPU. All Loaders of a process share one
            daemon, so the first one decides; a stream of `forebay serve` is decoded as its configuration says. A GPU
            lane takes memory of the GPU, 2 GB at most and some hundred MB for the driver.
        decode_gpu: The GPU whose lanes decode, as the daemon counts them: this process's own, where several share a
            machine. None is the one that the pixels stand in, or all of them. Only with `lanes` of GPUs.
        cache: What of the dataset is kept in the daemon's memory from the first epoch on:
            `{"keep": "encoded", "memory": "20gb"}` the files' bytes, `{"keep": "decoded", "memory": "20gb"}` whole
            decoded pictures, each as far as it fits. `"max_side": 512` beside "decoded" shrinks larger pictures to
            that side before any transform; without it no pixel changes. Loaders of one folder share it.
        placement: Where the pixels of batches stand: "host" in shared memory, "gpu:0" in memory of that GPU, as the
            daemon counts them, "auto" in a GPU that this process sees, the one that PyTorch uses first, or else in the
            host. A GPU's memory can be written by all trainers that map it, so it is for those of one user.
            `loader.placement` says what came of it. Of a stream of `forebay serve` its configuration decides; give
            `placement` all the same where PyTorch has not started CUDA yet, since the daemon is told of no GPU then.
            While it has trainers it stays where the first of them had it, also for one that cannot map that GPU.
        pin_memory: Calls `pin()` at once, and makes the ring such that every driver can lock its pages: most take only
            memory that the process could write. It is for trainers of one user, as they could write to it. Memory is
            locked for the GPU that PyTorch uses, so choose that first (`torch.cuda.set_device`). Of a stream of
            `forebay serve` the configuration has to say it too.
        dtype: "uint8", "float16", "bfloat16" or "float32", or what numpy or PyTorch has for these. numpy has no
            bfloat16: see `Batch.images`.
        layout: "NHWC" or "NCHW".
        match: Whose pixels resizes give: "pillow" for Pillow's, to the byte; "torch" for those of torchvision with a
            uint8 tensor on a GPU and `antialias=True`, within 1 of 255, with bilinear and bicubic filters only.
        adjust_orientation: Pictures are turned as their EXIF orientation says; Pillow and torchvision leave them as
            they are stored.
        reducing_gap: Large JPEGs are decoded at 1/2, 1/4 or 1/8 of their size as long as each side keeps this many
            times the pixels of its result, as with Pillow's `Image.thumbnail`. None decodes them as they are, which is
            exact. Not beside a cache of decoded pictures.
        fast: A short word for `reducing_gap=2.0`.
        labels: "auto", "text" (the CSV's labels are names even where they look like numbers) or "none".
        root: Folder that a CSV's paths are relative to, where it is not the CSV's own.
        on_error: "fail", "skip" or "replace" a record that cannot be read or decoded.
        read_timeout: Seconds after which a record that cannot be read yet counts as bad, if others can be. None is a
            minute.
        epoch_end_timeout: Seconds for which `next()` waits at an epoch's end for a batch that another trainer holds,
            before it raises `EpochHeld`. None is ten minutes.
        storage_timeout: Seconds for which `next()` waits while the dataset cannot be read, before it raises
            `StorageStalled`. None is ten minutes.
        pixel_limit: Pictures with more pixels are bad records. None is 178,956,970 pixels. All Loaders of a process
            share one daemon, so the first one decides. For a stream of `forebay serve`, the configuration decides.
        byte_limit: The same for bytes of a file: a number, or a text such as "2gib". None is 1 GiB.
        max_failures: Number, or fraction, of bad records from which on the stream fails all the same.
        socket: Socket of the daemon; `source` is then a stream's name.
        random_shuffle: Another name of `shuffle`.

    Raises:
        SettingsError: With every setting that is wrong.
        DatasetError: The dataset is missing, empty or unreadable.
        AttachError: No daemon could be reached or started, or it refused.
        GpuError: The ring was to be page-locked, and cannot be: `pin_memory=torch.cuda.is_available()` asks for it only
            where there is a GPU.

    Example:
        >>> loader = forebay.Loader("/data/train", batch_size=256, size=224, shuffle=True)      # doctest: +SKIP
        >>> for epoch in range(90):                                                             # doctest: +SKIP
        ...     for batch in loader:
        ...         step(batch.images, batch.labels)
    """

    _given: dict[str, Any]

    @_remember_given
    def __init__(
        self,
        source: Source,
        *,
        batch_size: int | None = None,
        size: Size | None = None,
        transform: Transform | Sequence[Transform] | None = None,
        shuffle: bool = False,
        seed: int = 0,
        epochs: int | None = None,
        run: str | None = None,
        shard_id: int | None = None,
        num_shards: int | None = None,
        stick_to_shard: bool = False,
        pad_last_batch: bool = True,
        last_batch_policy: str = "partial",
        prefetch_queue_depth: int | None = None,
        num_threads: int | None = None,
        decode_gpu: int | None = None,
        lanes: str | Sequence[str] | None = None,
        cache: Mapping[str, str | int] | None = None,
        placement: str | None = None,
        pin_memory: bool = False,
        dtype: Any = "uint8",  # noqa: ANN401 - whatever numpy or PyTorch takes
        layout: str = "NHWC",
        match: str = "pillow",
        adjust_orientation: bool = True,
        reducing_gap: float | None = None,
        fast: bool = False,
        labels: str = "auto",
        root: str | os.PathLike[str] | None = None,
        on_error: str = "fail",
        read_timeout: float | None = None,
        epoch_end_timeout: float | None = None,
        storage_timeout: float | None = None,
        pixel_limit: int | None = None,
        byte_limit: int | str | None = None,
        max_failures: float | None = None,
        socket: str | os.PathLike[str] | None = None,
        random_shuffle: bool | None = None,
    ) -> None:
        given = {name: value for name, value in self._given.items() if value is not None}
        asked = request(source, given, by_name=socket is not None)
        refuse_unsharded(given, os.environ, torch_ranks(), asked.stream)
        path = None if socket is None else os.path.abspath(os.fspath(socket))
        self._releases = Releases()
        self._rings = Rings(self._releases)
        self._session = attach(asked, path, gpus_for(asked, placement))
        try:
            self._rings.follow(self._session)
        except GpuError as error:
            self._session.close()
            self._session = attach_to_host(asked, path, placement, error)
            self._rings.follow(self._session)
        self._lent: list[weakref.ref[Batch]] = []
        if pin_memory:
            try:
                self.pin()
            except GpuError:
                self._session.close()
                raise

    def __iter__(self) -> Iterator[Batch]:
        """The rest of the stream's current epoch."""
        return Epoch(self._session, self._draw)

    def next(self, timeout: float | None = None) -> Batch | None:
        """The next batch, or None at the epoch's end. Acknowledges the one in hand.

        The batch before this one may still be looked at, older ones not any more: keep their arrays, or
        `batch.copy()`.

        An exception that comes meanwhile, by Ctrl-C, a signal handler or another thread, loses nothing: the next call
        gives what it threw away. The batch counts as handed out when `next()` or `for` returns. From Python 3.11 on,
        nothing comes between that and an assignment to a variable. Before, or where a function of yours wraps `next()`,
        an exception there can still throw the batch away, and the next call acknowledges it.

        Args:
            timeout: Seconds to wait at most; 0 only looks, None and infinity wait without end.

        Raises:
            TimeoutError: Nothing came in time. Nothing is lost.
            SettingsError: `timeout` is negative or not a number.
            RecordError: A bad record with `on_error="fail"`, or too many of them.
            EpochHeld: Somebody holds the epoch's last batches for longer than the stream's `epoch_end_timeout`.
            StorageStalled: The dataset cannot be read for longer than the stream's `storage_timeout`.
            SlotsHeld: Views of earlier batches are kept: keep `batch.copy()` instead.
            Outage: The daemon went away and did not come back.
            ClosedError: The Loader is closed, or was closed meanwhile.
            Error: Another thread or the code that a signal handler has interrupted is using the Loader.
        """
        number, batch = self._draw(timeout)
        self._session.taken = number  # Last of all: see `_draw`.
        return batch

    def _draw(self, timeout: float | None = None) -> tuple[int, Batch | None]:
        """What comes next, and the number that the caller stores in the session's `taken` right before it returns.

        Until then it is not handed out: whatever exception comes, the next call gives it again. CPython looks for
        signals and for exceptions of other threads behind calls and at the end of loops, so that none comes between
        that store and a `return`.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            slots = self._make_room()
            try:
                number, native = self._session.next(timeout)
                break
            except SlotsHeld:
                # What another thread let go of meanwhile waits for the GPU, and nobody else looks after that.
                if not self._releases:
                    raise
            timeout = None if until is None else max(until - time.monotonic(), 0)
        if native is None:
            return number, None
        self._rings.follow(self._session)
        batch = self._batch(native, copied=slots < 2 and native.gpu_images is None)
        self._lent.append(weakref.ref(batch))
        return number, batch

    def __len__(self) -> int:
        """Batches of an epoch: exact with shards, else an upper bound for one of several trainers."""
        return self._session.batches_per_epoch

    @property
    def placement(self) -> str:
        """Where the pixels stand: "host", or "gpu:N" with the GPU's number in this process."""
        return "host" if self._rings.device is None else f"gpu:{self._rings.device}"

    def pin(self, device: int | None = None) -> None:
        """Page-locks the ring in this process, once and for all. `pin_memory=True` does so from the start.

        Copies from a batch's arrays to a GPU then run at full speed, and `tensor.to("cuda", non_blocking=True)` does
        not wait for them: a slot is given back when they are done, see `Batch`. Take no array before it. It takes about
        as long as a copy of the ring, whose memory cannot be swapped out then. A GPU ring needs none of it.

        Args:
            device: Number of the GPU in this process that copies from it. None takes the one that PyTorch uses, else
                the first. Copies to others run at full speed too, and need `batch.release(after=event)`.

        Raises:
            GpuError: There is no GPU; or it cannot lock memory that is only read, as a ring is for its trainers unless
                it was made with `pin_memory=True`.
            SettingsError: It is page-locked already, for another GPU than `device`.
        """
        self._rings.pin(device, self._session.rings())
        for lent in self._lent:
            batch = lent()
            if batch is not None:
                batch._lease_by(self._rings)

    @property
    def classes(self) -> list[str]:
        """Class names in the order of their labels; empty where labels are numbers or absent."""
        return self._session.classes

    @property
    def quarantine(self) -> list[QuarantinedRecord]:
        """Records that could not be read or decoded so far: each once, with file, reason and epochs."""
        return [QuarantinedRecord(*row[:3], tuple(row[3])) for row in self._session.quarantine()]

    def path(self, record: int) -> str:
        """The file of a record.

        Raises:
            Error: The dataset has no such record.
        """
        return self._session.path(record)

    def audit(self) -> list[EpochAudit]:
        """What became of every record, epoch by epoch."""
        return [EpochAudit(*row) for row in self._session.audit()]

    def reset(self) -> None:
        """Ends the epoch that this Loader is in. What was not delivered is listed as abandoned.

        The batch in hand counts as consumed. Between two epochs it does nothing.

        Raises:
            Error: Other trainers are attached to the stream.
        """
        self._session.reset()

    def state_dict(self) -> dict[str, Any]:
        """The run as this Loader has consumed it, the batch in hand included; a few hundred bytes, fit for JSON.

        With several trainers of one stream, call it on one of them between steps, inside a barrier.
        """
        return pack(*self._session.state())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where `state_dict()` was taken, with another number of trainers if need be.

        Raises:
            SettingsError: It is no such state, or it contradicts itself.
            Error: It is of another dataset, order or seed.
        """
        self._session.restore(*unpack(state))

    def torch(self, *, copy: bool = True, device: Any = None) -> TorchLoader:  # noqa: ANN401 - whatever PyTorch takes
        """The same batches as PyTorch tensors.

        Args:
            copy: Fresh tensors, which may be kept and written. False gives views on the ring's memory: writing to one
                of the host is a crash, and one of a GPU must not be written. For how long a view of a GPU holds its
                slot, see `forebay.gpu.GpuArray`.
            device: A GPU on which the tensors are to stand; copies to it are not waited for, and the slot is given back
                when they are done. Give the Loader `pin_memory=True`. None takes the host, but for a GPU ring the GPU
                that PyTorch uses by then, else the ring's.
        """
        from forebay.torch import TorchLoader

        return TorchLoader(self, copy=copy, device=device)

    def close(self) -> None:
        """Gives the batch in hand back and lets go of the daemon. Arrays that are still kept stay valid.

        A signal handler or another thread may call it while `next()` waits. That wait then ends with `ClosedError`, and
        the batch goes back as it does.
        """
        try:
            self._let_go(keep=0)
            self._releases.finish()
        finally:
            self._session.close()

    def _make_room(self) -> int:
        """Waits for the GPU where its work holds the slot of the batch to come. Gives the slots that may be held."""
        slots = self._session.credits()
        # Variables often keep a batch longer than its loop. The newest stay, and leave a slot for the one to come.
        self._let_go(keep=slots - 1)
        self._releases.look()
        while self._session.viewed() >= slots and self._releases.wait():
            pass
        return slots

    def _batch(self, native: _native.Batch, *, copied: bool) -> Batch:
        # In a `for`, the last batch is still bound when the next one is asked for: one slot is not enough for both.
        if copied:
            return Batch(native).copy()
        lease = self._rings.lease(native)
        return Batch(native, self._releases, lease, self._rings.pixels(native, lease))

    def _let_go(self, *, keep: int) -> None:
        """Takes the slots from all but the newest Batch objects; arrays that were taken from them still hold theirs."""
        alive = [lent for lent in self._lent if lent() is not None]
        self._lent = alive[len(alive) - keep :] if keep < len(alive) else alive
        for lent in alive[: len(alive) - len(self._lent)]:
            batch = lent()
            if batch is not None:
                batch._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Loader is bound to the process that made it and can be neither pickled nor copied: make one in each "
            "process; state_dict() and load_state_dict() carry over how far it came"
        )
