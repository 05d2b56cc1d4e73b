"""What every loader does, whatever it makes of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from forebay import frameworks
from forebay.audit import EpochAudit, QuarantinedRecord
from forebay.epoch import Epoch
from forebay.errors import SettingsError
from forebay.given_numbers import epoch_number
from forebay.state import pack, unpack

if TYPE_CHECKING:
    from typing_extensions import Self

    from forebay.feed import Feed

__all__ = ["Batches"]

T = TypeVar("T")


class Batches(Generic[T]):
    """Batches of a stream as `T`. `forebay.Loader` gives them as `forebay.Batch`.

    After `close()`, methods that need the daemon raise `ClosedError`.
    """

    _feed: Feed

    def __iter__(self) -> Iterator[T]:
        """The rest of the stream's current epoch. A `for` loop calls this."""
        return Epoch(self._feed.session, self._draw)

    def next(self, timeout: float | None = None) -> T | None:
        """The next batch, or None at the epoch's end. Acknowledges the batch before it.

        You may still use the batch before this one, but not older ones: keep their arrays, or `batch.copy()`.

        An exception during the call loses no batch: the next call returns the same batch. This also holds for Ctrl-C,
        and for exceptions of signal handlers and other threads. A batch counts as handed out when `next()` or `for`
        returns it. Since Python 3.11, no exception can come between that and the assignment to a variable. In older
        versions, or if your own function wraps `next()`, such an exception can lose the batch, and the next call
        acknowledges it.

        Args:
            timeout: Longest wait in seconds. 0 does not wait; None and infinity wait for ever.

        Raises:
            TimeoutError: No batch arrived in time. Nothing is lost.
            SettingsError: `timeout` is negative or not a number.
            RecordError: A record is bad and `on_error="fail"`, or there are more than `max_failures` bad records.
            EpochHeld: Another trainer holds one of the epoch's last batches for longer than `epoch_end_timeout`.
            MissedBatches: The daemon ended before this trainer's group got some batches that other groups consumed.
            StorageStalled: The dataset cannot be read for longer than `storage_timeout`.
            SlotsHeld: You keep views of so many batches that no slot is left. Keep `batch.copy()` instead.
            Outage: The daemon ended and did not come back.
            Evicted: The daemon has evicted this trainer.
            ClosedError: The Loader is closed, or was closed during the call.
            Error: Another thread is using the Loader, or a signal handler has interrupted a call of it.

        Example:
            >>> while (batch := loader.next(timeout=60)) is not None:                           # doctest: +SKIP
            ...     step(batch.images, batch.labels)
        """
        number, batch = self._draw(timeout)
        self._feed.session.taken = number  # Last of all: see `Feed.draw`.
        return batch

    def __len__(self) -> int:
        """Batches of an epoch. Exact with shards; an upper bound if several trainers share the stream."""
        return self._feed.session.batches_per_epoch

    @property
    def batch_size(self) -> int:
        """Places of a batch: records, unless `last_batch_policy` leaves some out or repeats some."""
        return self._feed.batch_size

    @property
    def epoch(self) -> int:
        """The epoch that this trainer is in, from 0. After the end of an epoch it is the next one."""
        return self._feed.session.epoch()

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `for` begin at the start of this epoch. Does nothing if this trainer is in this epoch already.

        Use it to begin at another epoch than 0 without a state. Epochs follow each other without it. Batches of other
        epochs that were not consumed are returned. The audit does not list the epochs that were skipped.

        Raises:
            SettingsError: The epoch is negative, or no integer.
            Error: Other trainers are attached to the stream.
        """
        epoch = epoch_number(epoch)
        if epoch != self.epoch:
            self._feed.session.begin(epoch)

    @property
    def placement(self) -> str:
        """Where the pixels are: "host", or "gpu:N" with the GPU's number in this process."""
        device = self._feed.rings.device
        return "host" if device is None else f"gpu:{device}"

    def pin(self, device: int | None = None) -> None:
        """Page-locks the ring in this process. `pin_memory=True` does that from the start.

        Copies from a batch's arrays to a GPU then run at full speed, and `tensor.to("cuda", non_blocking=True)` is
        asynchronous. A slot returns to the daemon when the copies are done: see `Batch`. Call `pin()` before you take
        arrays. It takes about as long as a copy of the ring. The ring's memory cannot be swapped out afterwards. Pixels
        in a GPU need no `pin()`.

        Args:
            device: Number in this process of the GPU that copies from the ring. None is the GPU that PyTorch uses, or
                else the first one. Copies to other GPUs also run at full speed, and need `batch.release(after=event)`.

        Raises:
            GpuError: There is no GPU, or it cannot lock this ring. Most drivers lock only memory that the process could
                write, which `pin_memory=True` provides.
            SettingsError: The ring is page-locked for another GPU already.
        """
        self._feed.pin(device)

    @property
    def classes(self) -> list[str]:
        """Class names in the order of their labels; empty if labels are numbers or absent."""
        return self._feed.session.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class, by its name. Empty if labels are numbers or absent."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def quarantine(self) -> list[QuarantinedRecord]:
        """The records that could not be read or decoded so far. Each is listed once, with file, reason and epochs."""
        return [QuarantinedRecord(*row[:3], tuple(row[3])) for row in self._feed.session.quarantine()]

    def path(self, record: int) -> str:
        """The file of a record.

        Raises:
            Error: The dataset has no such record.
        """
        return self._feed.session.path(record)

    def audit(self) -> list[EpochAudit]:
        """What happened to all records, one `EpochAudit` per epoch."""
        return [EpochAudit(*row) for row in self._feed.session.audit()]

    def page(self) -> str:
        """Shows the daemon in a browser: prints the URL of a page, and returns it.

        The page is a process of its own, as that of the command `forebay page`. It takes nothing from training. It
        shows the daemon of this process, or with `stream:NAME` all streams of the service. It ends with this Loader and
        with this process. Further calls return the same URL, as long as the page runs.

        Each user who has the URL can look, on this machine alone. From another machine, tunnel to its port with ssh.

        Raises:
            ClosedError: The Loader is closed.
            Error: The page cannot be started.

        Example:
            >>> url = loader.page()                                                             # doctest: +SKIP
            The page is at http://127.0.0.1:40123/3f0c2e8f0a7d4a4f9d3f1c5a6b7e8d90/
        """
        # A Loader that is closed, or was made by another process, has none.
        self._feed.session.epoch()
        url = self._feed.page.url()
        print(f"The page is at {url}", flush=True)
        return url

    def reset(self) -> None:
        """Ends the current epoch. The audit lists the records that were not delivered as abandoned.

        The batch in hand counts as consumed. Between two epochs, this does nothing. In lockstep, it ends the epoch for
        all ranks: call it on each of them.

        Raises:
            Error: Other trainers are attached to the stream.
        """
        self._feed.session.reset()

    def state_dict(self) -> dict[str, Any]:
        """The state of the run as this Loader has consumed it, including the batch in hand.

        It is a dictionary of a few hundred bytes, fit for JSON. If several trainers share the stream, call this in one
        of them, between steps and inside a barrier.

        Example:
            >>> torch.save({"model": model.state_dict(), "data": loader.state_dict()}, path)    # doctest: +SKIP
        """
        return pack(*self._feed.session.state())

    def load_state_dict(self, state: Mapping[str, Any], *, load_id: str | None = None) -> None:
        """Continues where `state_dict()` was called. The number of trainers may differ.

        If several trainers share the stream, each of them loads the same state before it takes the next batch.

        Args:
            state: What `state_dict()` returned.
            load_id: Give this if trainers on several nodes share the stream: any text that is new for each load, and
                equal for all trainers. The run is then taken to the state once. If `torch.distributed` is initialised,
                leave it out: the first rank draws one and broadcasts it, so all ranks must call this.

        Raises:
            SettingsError: `state` is not a state, or it contradicts itself.
            Error: The state is of another dataset, order or seed. Or trainers on other nodes share the stream, and
                there is no `load_id`, or it was used for another state.
        """
        if load_id == "":
            raise SettingsError('load_id="": give a text that is new for each load, or leave it out')
        if load_id is None and self._feed.shared:
            # Before anything that may fail in one rank alone: the others would wait for it.
            load_id = frameworks.common_id()
        self._feed.session.restore(*unpack(state), load_id or "")

    def close(self) -> None:
        """Returns the batch in hand and detaches from the daemon. Arrays that you keep stay valid.

        A signal handler or another thread may call this while `next()` waits. `next()` then raises `ClosedError`, and
        its batch is returned.
        """
        self._feed.close()

    def _draw(self, timeout: float | None = None) -> tuple[int, T | None]:
        """The next batch as `T`. See `Feed.draw`."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
