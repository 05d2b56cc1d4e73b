"""One batch: read-only numpy views on the ring's shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forebay.dtype import name_of
from forebay.errors import ClosedError
from forebay.lease import Leased
from forebay.release import Mark, Releases

if TYPE_CHECKING:
    from forebay import _native
    from forebay.gpu import GpuArray
    from forebay.lease import Lease
    from forebay.rings import Rings

__all__ = ["Batch", "Padded"]


class Padded(NamedTuple):
    """Arrays of a batch with all its places, whatever the last batch's policy shows of them.

    Attributes:
        images: `(batch_size, height, width, 3)`, or `(batch_size, 3, height, width)` with `layout="NCHW"`; of the
            stream's dtype (see `Batch.images` for bfloat16). Of a GPU ring a `forebay.gpu.GpuArray`.
        labels: `(batch_size,)` of int64; -1 without labels.
        records: `(batch_size,)` of int64: numbers of the records in the dataset's order; -1 where a place has none.
        mask: `(batch_size,)` of bool: False where a place repeats another or stands in for one.
    """

    images: np.ndarray | GpuArray
    labels: np.ndarray
    records: np.ndarray
    mask: np.ndarray


class Batch:
    """A batch of pictures with labels.

    The arrays are views on memory that the daemon refills when the batch was consumed and the last view is gone, so
    they stay valid for as long as anything refers to them. They are read-only: writing raises `ValueError`. Every
    access makes a new view; it costs microseconds and copies nothing.

    The batch itself gives arrays until a newer one than the next has come, so that a variable that still names it
    does not hold up a later loop.

    Copies to a GPU that nobody waits for still read the slot when Python lets go of the batch. After `loader.pin()`,
    and where the pixels stand in a GPU, the slot is therefore held until that GPU has done all that it was given by
    then on the default stream and on PyTorch's current one. `release(after=event)` right behind the copies does not
    wait for what comes after them, and is needed where other streams or GPUs read the slot.

    Attributes:
        epoch: The epoch that the batch belongs to.
        valid: How many places are this epoch's own records.

    Example:
        >>> for batch in loader:                                    # doctest: +SKIP
        ...     loss = step(batch.images, batch.labels)
        ...     seen.extend(batch.records[batch.mask])
    """

    __slots__ = (
        "__weakref__",
        "_decision",
        "_lease",
        "_native",
        "_own",
        "_pixels",
        "_releases",
        "_shown",
        "epoch",
        "valid",
    )

    def __init__(
        self,
        native: _native.Batch,
        releases: Releases | None = None,
        lease: Lease | None = None,
        pixels: GpuArray | None = None,
    ) -> None:
        self._native: _native.Batch | None = native
        self._own: Padded | None = None
        self._releases = releases
        self._lease = lease
        self._pixels = pixels
        self._decision = native.decision
        self._shown = native.shown
        self.epoch: int = native.epoch
        self.valid: int = native.valid

    @property
    def images(self) -> np.ndarray | GpuArray:
        """Pictures: `(n, height, width, 3)`, or `(n, 3, height, width)` with `layout="NCHW"`.

        numpy has no bfloat16: its arrays have the bits, as uint16, of which `images.view(ml_dtypes.bfloat16)` makes the
        values where that package is installed, and `torch.from_numpy(images.view("int16")).view(torch.bfloat16)` a
        tensor. `loader.torch()` gives tensors of the right type.

        Where they stand in memory of a GPU, an object for `torch.as_tensor` and the like: see `forebay.gpu.GpuArray`.
        """
        return self._array("images")[: self._shown] if self._pixels is None else self._pixels.first(self._shown)

    @property
    def dtype(self) -> str:
        """Type of the images' values: "uint8", "float16", "bfloat16" or "float32"."""
        return name_of((self._array("images") if self._pixels is None else self._pixels).dtype)

    @property
    def labels(self) -> np.ndarray:
        """Labels: `(n,)` of int64; -1 without labels."""
        return self._array("labels")[: self._shown]

    @property
    def records(self) -> np.ndarray:
        """Record numbers in the dataset's order: `(n,)` of int64; -1 where a place has none."""
        return self._array("records")[: self._shown]

    @property
    def mask(self) -> np.ndarray:
        """`(n,)` of bool: False where a place repeats another or stands in for a bad record."""
        return self._array("mask")[: self._shown]

    @property
    def padded(self) -> Padded:
        """The same arrays with all `batch_size` places."""
        # Where pixels stand in a GPU, the slot's room for them is not the trainer's to look at.
        images = self._array("images") if self._pixels is None else self._pixels
        return Padded(images, *(self._array(name) for name in Padded._fields[1:]))

    def copy(self) -> Batch:
        """The batch with arrays of its own in the host, which may be kept and written; the slot is not held by it."""
        twin = Batch.__new__(Batch)
        twin._native = twin._releases = twin._lease = twin._pixels = None
        twin._own = Padded(
            *(np.array(array) if isinstance(array, np.ndarray) else array.numpy() for array in self.padded)
        )
        twin._decision, twin._shown, twin.epoch, twin.valid = self._decision, self._shown, self.epoch, self.valid
        return twin

    def ack(self) -> None:
        """Says that the batch was consumed, now rather than when the next one is asked for."""
        self._decision.ack()

    def release(self, after: Mark | None = None) -> None:
        """Holds the slot no longer than until `after`; the batch gives no arrays from now on.

        The loop for copies that run beside the next step:

            loader.pin()
            for batch in loader:
                images = torch.from_numpy(batch.images).to("cuda", non_blocking=True)
                copied = torch.cuda.Event()
                copied.record()
                batch.release(after=copied)
                step(images)

        Args:
            after: A mark behind the last thing that reads the arrays: a `torch.cuda.Event`, a `cupy.cuda.Event`, a
                `jax.Array` that was made of them (and that is not donated to a computation), or anything with `query()`
                and `synchronize()`. It is asked when the next batches are. None gives the slot back as deletion does:
                at once where no GPU can read it behind Python's back. Arrays that were taken before still hold it.
        """
        if after is not None and self._native is not None:
            if self._releases is None:
                self._releases = Releases()
            self._releases.add(after, self._native)
        self._let_go()

    def reject(self) -> None:
        """Gives the batch back unread: its records are delivered again, here or to another trainer.

        Raises:
            Error: It was acknowledged before.
        """
        self._decision.reject()
        self._let_go()

    def __len__(self) -> int:
        return self._shown

    def __repr__(self) -> str:
        return f"<forebay.Batch epoch={self.epoch} valid={self.valid} of {self._shown}>"

    def _array(self, name: str) -> np.ndarray:
        if self._own is not None:
            return getattr(self._own, name)
        if self._native is None:
            raise ClosedError(
                "this batch was given back (by reject() or close()), or newer ones have taken its place; "
                "take batch.copy() before that"
            )
        view = getattr(self._native, name)
        return np.asarray(view if self._lease is None else Leased(view, self._lease))

    def _lease_by(self, rings: Rings) -> None:
        """The ring has been page-locked since the batch came: arrays are taken by a lease from now on."""
        if self._native is not None and self._lease is None:
            self._lease = rings.lease(self._native)

    def _let_go(self) -> None:
        """Holds the slot no longer; arrays that were taken before still do."""
        self._native = self._lease = self._pixels = None
