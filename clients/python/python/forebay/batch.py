"""One batch: read-only numpy views on the ring's shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, cast

import numpy as np

from forebay.dtype import name_of
from forebay.errors import ClosedError
from forebay.hold import HeldView
from forebay.padded import Padded
from forebay.patches import Patches, patches_of
from forebay.pictures import cut_pictures, joined_pixels
from forebay.ragged import Ragged
from forebay.release import Releases
from forebay.soft_labels import soft_labels_of
from forebay.step_form import form_of_columns

if TYPE_CHECKING:
    from forebay import _native
    from forebay.frameworks import Mark
    from forebay.gpu import GpuArray
    from forebay.hold import Hold
    from forebay.rings import Rings

__all__ = ["Batch", "Padded"]


class Batch:
    """A batch of images with their labels.

    Its arrays are views on the ring, and are read-only: writing raises `ValueError`. Each access makes a new view,
    which takes microseconds and copies nothing. The daemon refills the slot only when the batch is consumed and all its
    views are gone. So a view is valid as long as you keep it.

    The Batch object itself gives arrays until the batch after the next one arrives. A variable that still refers to an
    old batch therefore does not keep its slot in use. Its properties raise `ClosedError` then: keep the arrays, or
    `batch.copy()`.

    A copy to a GPU with `non_blocking=True` may still read the slot after you drop the batch. If the ring is
    page-locked (`loader.pin()`) or in a GPU, Forebay therefore waits for that GPU before it reuses the slot. It waits
    for the work that was queued by then on two streams: the default one, and PyTorch's current one.
    `release(after=event)` ends the wait right after the copies. It is required if other streams or other GPUs read the
    slot.

    Datasets may have further columns, such as boxes. Both `batch["boxes"]` and `batch.boxes` give such a column.
    `batch.columns` has the names of all columns. `batch["copy"]` gives a column that has the name of a method. A column
    with a list for each place is a `Ragged`. Any other column is an array `(n, ...)`.

    Attributes:
        epoch: The epoch that the batch belongs to, from 0.
        valid: Number of places with records of this epoch: those where `mask` is True.

    Example:
        >>> for batch in loader:                                    # doctest: +SKIP
        ...     loss = step(batch.images, batch.labels)
        ...     seen.extend(batch.records[batch.mask])
        ...     first = batch.boxes[0]                              # boxes of the first picture: (objects, 4)
    """

    __slots__ = (
        "__weakref__",
        "_decision",
        "_further_types",
        "_hold",
        "_native",
        "_own",
        "_own_columns",
        "_pixels",
        "_ragged",
        "_releases",
        "_shown",
        "epoch",
        "valid",
    )

    def __init__(
        self,
        native: _native.Batch,
        releases: Releases | None = None,
        hold: Hold | None = None,
        pixels: GpuArray | None = None,
        *,
        ragged: bool = False,
    ) -> None:
        self._native: _native.Batch | None = native
        self._own: Padded | None = None
        self._further_types: dict[str, str] | None = None
        self._own_columns: dict[str, tuple[np.ndarray | Ragged, np.ndarray]] | None = None
        self._releases = releases
        self._hold = hold
        self._pixels = pixels
        self._ragged = ragged
        # Seldom asked for, and made of the native batch as long as there is one.
        self._decision: _native.Decision | None = None
        self.epoch, self.valid, self._shown = native.counts

    @property
    def images(self) -> np.ndarray:
        """Images: `(n, height, width, 3)`, or `(n, 3, height, width)` with `layout="NCHW"`, of the stream's dtype.

        Other modes have other channels in place of 3: 1 with "L", 2 with "LA", 4 with "RGBA". numpy has no bfloat16, so
        an array of it holds the bits as uint16. `images.view(ml_dtypes.bfloat16)` gives the values, if that package is
        installed.
        `torch.from_numpy(images.view("int16")).view(torch.bfloat16)` gives a tensor, as `loader.torch()` does.

        If the pixels are in a GPU, this is a `forebay.gpu.GpuArray`: pass it to `torch.as_tensor` or its like. Type
        checkers take it for an array of numpy, which it is wherever the pixels are in the host.

        With `buckets="ragged"`, this is a list of `n` views, each `(height, width, 3)`: 0 x 0 without a picture.

        Raises:
            ClosedError: The batch has no slot any more.
        """
        if self._ragged:
            return cast("np.ndarray", cut_pictures(self._pixels_of_all(), self["shown"]))
        if self._pixels is None:
            return self._array("images")[: self._shown]
        return cast("np.ndarray", self._pixels.first(self._shown))

    @property
    def dtype(self) -> str:
        """Type of the images' values: "uint8", "float16", "bfloat16" or "float32"."""
        return name_of((self._array("images") if self._pixels is None else self._pixels).dtype)

    @property
    def labels(self) -> np.ndarray:
        """Labels: `(n,)` of int64; -1 without a label."""
        return self._array("labels")[: self._shown]

    @property
    def records(self) -> np.ndarray:
        """Record numbers in the dataset's order: `(n,)` of int64; -1 where a place has no record."""
        return self._array("records")[: self._shown]

    @property
    def mask(self) -> np.ndarray:
        """`(n,)` of bool: False where a place repeats a record or replaces a bad one."""
        return self._array("mask")[: self._shown]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns: images, labels, records, mask, and those of the dataset.

        Raises:
            ClosedError: The batch has no slot any more.
        """
        return (*Padded._fields, *self._further())

    def validity(self, name: str) -> np.ndarray:
        """`(n,)` of bool: False where a place has no value in this column.

        Raises:
            KeyError: The batch has no such column.
            ClosedError: The batch has no slot any more.
        """
        return np.ones(self._shown, bool) if name in Padded._fields else self._column(name)[1]

    def soft_labels(self, num_classes: int, label_smoothing: float = 0.0) -> np.ndarray:
        """Labels as probabilities: `(n, num_classes)` of float32.

        A picture has the probability 1 for its label. If the stream mixes its pictures, `labels` has the weight `mix`,
        and `mixed_labels` has the rest. A label of -1 adds nothing, so that a place without a label has zeros.

        Args:
            num_classes: Number of classes.
            label_smoothing: The part that all classes share, from 0.0 to 1.0, as in `torch.nn.CrossEntropyLoss`.

        Raises:
            ValueError: A label is not below `num_classes`.
            ClosedError: The batch has no slot any more.

        Example:
            >>> loss = -(batch.soft_labels(1000) * log_probabilities).sum(1).mean()             # doctest: +SKIP
        """
        labels = self.labels
        parts = [(labels, np.float32(1))]
        if "mix" in self._further() and "mixed_labels" in self._further():
            weight = self._column("mix")[0]
            parts = [(labels, weight), (self._column("mixed_labels")[0], 1 - weight)]
        return soft_labels_of(parts, num_classes, label_smoothing)

    def patches(self) -> Patches:
        """The patches of a stream with `patches`, with their places in the pictures.

        Raises:
            KeyError: The stream has no patches.
            ClosedError: The batch has no slot any more.
        """
        return patches_of(self.images, self._column("grid")[0])

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - an array, or a Ragged
        if name in Padded._fields:
            return getattr(self, name)
        return self._column(name)[0]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an array, or a Ragged
        # Python calls this for names that are not attributes, and for attributes that raised an AttributeError.
        if name.startswith("_") or hasattr(type(self), name):
            return object.__getattribute__(self, name)
        try:
            return self._column(name)[0]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None
        except ClosedError as error:
            # hasattr() asks here too, and takes no other error.
            raise AttributeError(str(error)) from error

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    # Without this, Python would ask for batch[0], batch[1] and so on.
    __iter__ = None

    @property
    def padded(self) -> Padded:
        """The same arrays with all `batch_size` places.

        Raises:
            ClosedError: The batch has no slot any more.
        """
        # If the pixels are in a GPU, the trainer must not look at the slot's room for them in the host.
        images = self._pixels_of_all() if self._pixels is None else cast("np.ndarray", self._pixels)
        return Padded(images, *(self._array(name) for name in Padded._fields[1:]))

    def copy(self) -> Batch:
        """A batch with its own arrays in the host, which you may keep and write to. It does not keep the slot in use.

        Raises:
            ClosedError: The batch has no slot any more.
        """
        twin = Batch.__new__(Batch)
        twin._native = twin._releases = twin._hold = twin._pixels = None
        twin._own = Padded(
            *(np.array(array) if isinstance(array, np.ndarray) else array.numpy() for array in self.padded)
        )
        twin._own_columns, twin._ragged = {}, self._ragged
        twin._further_types = self._further()
        for name in self._further():
            column, validity = self._column(name)
            twin._own_columns[name] = column.copy(), validity.copy()
        twin._decision = self._decision if self._own is not None else self._right()
        twin._shown, twin.epoch, twin.valid = self._shown, self.epoch, self.valid
        return twin

    def __reduce__(self) -> tuple[Callable[..., Batch], tuple[Any, ...]]:
        """What the pickle of a copy has. Only a copy can be pickled, and the result cannot decide on the batch."""
        if self._own is None:
            raise TypeError("a batch of a ring cannot be pickled: pickle batch.copy()")
        return _unpickled, (
            tuple(self._own),
            self._further_types,
            self._own_columns,
            self._shown,
            self.epoch,
            self.valid,
        )

    def ack(self) -> None:
        """Acknowledges the batch as consumed now. Otherwise the next call of `next()` does that.

        The slot stays in use until the batch and its arrays are gone. Does nothing if the batch was decided before.
        """
        self._right().ack()

    def release(self, after: Mark | None = None) -> None:
        """Gives the slot back once `after` is reached. The batch gives no arrays from now on.

        Use it to copy a batch to a GPU while the GPU works on the batch before:

            loader.pin()
            for batch in loader:
                images = torch.from_numpy(batch.images).to("cuda", non_blocking=True)
                copied = torch.cuda.Event()
                copied.record()
                batch.release(after=copied)
                step(images)

        Args:
            after: A mark behind the last work that reads the arrays. It is a `torch.cuda.Event`, a `cupy.cuda.Event`,
                or any object with `query()` and `synchronize()`. In JAX it is a `jax.Array` that was made of the arrays
                and is not donated to a computation. Later calls of `next()` look whether the mark is reached. None
                gives the slot back as dropping the batch does: at once, unless a GPU may read the slot asynchronously.
                Arrays that you still have keep the slot in use.

        Raises:
            TypeError: `after` is not a mark of any framework.
        """
        if after is not None and self._native is not None:
            if self._releases is None:
                self._releases = Releases()
            self._releases.add(after, self._native)
        self._let_go()

    def reject(self) -> None:
        """Gives the batch back unread. It comes again, to this trainer or another one, after those that wait already.

        Raises:
            Error: The batch was acknowledged or rejected before.
        """
        self._right().reject()
        self._let_go()

    def __len__(self) -> int:
        return self._shown

    def __repr__(self) -> str:
        return f"<forebay.Batch epoch={self.epoch} valid={self.valid} of {self._shown}>"

    def _array(self, name: str) -> np.ndarray:
        if self._own is not None:
            own: np.ndarray = getattr(self._own, name)
            return own
        return self._viewed(getattr(self._lent(), name))

    def _unmarked(self, name: str) -> np.ndarray | GpuArray:
        """`images`, `labels`, `records` or `mask`, without numpy's mark for read-only arrays."""
        if self._own is not None or (name == "images" and self._pixels is not None):
            return self[name]  # type: ignore[return-value] - none of these is ragged
        return self._viewed(getattr(self._lent(), name).unmarked(self._shown))

    def _pixels_of_all(self, *, unmarked: bool = False) -> np.ndarray:
        """All images, with or without numpy's mark. Ragged ones are rows of pixels, one after the other."""
        pixels = self._array("images")
        if unmarked and self._own is None:
            pixels = self._viewed(self._lent().images.unmarked(self._shown))
        return joined_pixels(pixels, self["shown"]) if self._ragged else pixels

    def _further(self) -> dict[str, str]:
        """Names and types of the further columns."""
        native = None if self._own_columns is not None else self._lent()
        if self._further_types is None:
            assert native is not None, "a copy has the types of its original"
            self._further_types = dict(native.columns)
        return self._further_types

    def _is_bfloat16(self, name: str) -> bool:
        """Whether a column is a view of bfloat16, of which numpy gets the bits."""
        return name not in Padded._fields and self._further()[name].startswith("bf16")

    def _column(self, name: str) -> tuple[np.ndarray | Ragged, np.ndarray]:
        """A further column, and its validity."""
        if name not in self._further():
            raise KeyError(f"the batch has no column {name!r}; its columns are {', '.join(self.columns)}")
        if self._own_columns is not None:
            return self._own_columns[name]
        native = self._lent().column(name)
        assert native is not None, "it was listed"
        validity, levels, values = native
        rows, valid = self._viewed(values), self._viewed(validity)[: self._shown]
        if not levels:
            return rows[: self._shown], valid
        outer, *inner = map(self._viewed, levels)
        return Ragged(rows, (outer[: self._shown + 1], *inner)), valid

    def _lent(self) -> _native.Batch:
        if self._native is None:
            raise ClosedError(
                "this batch has no slot any more: reject(), release() or close() gave it back, or newer batches "
                "arrived. Call batch.copy() while the batch is current"
            )
        return self._native

    def _viewed(self, view: _native.View) -> np.ndarray:
        return np.asarray(view if self._hold is None else HeldView(view, self._hold))

    def _hold_by(self, rings: Rings) -> None:
        """Arrays keep a hold from now on: the ring has been page-locked since the batch arrived."""
        if self._native is not None and self._hold is None:
            self._hold = rings.hold(self._native)

    def _right(self) -> _native.Decision:
        """The right to decide on the batch, which outlasts the slot."""
        if self._decision is None and self._own is not None:
            raise ClosedError("this batch was pickled: acknowledge or reject it where it was copied")
        if self._decision is None:
            self._decision = self._lent().decision
        return self._decision

    def _let_go(self) -> None:
        """Stops using the slot. Arrays that were taken before still keep it in use."""
        if self._native is not None:
            self._right()
        self._native = self._hold = self._pixels = None


def _unpickled(
    arrays: tuple[np.ndarray, ...],
    types: dict[str, str],
    columns: dict[str, tuple[np.ndarray | Ragged, np.ndarray]],
    *counts: int,
) -> Batch:
    """A batch of what was pickled of a copy."""
    twin = Batch.__new__(Batch)
    twin._native = twin._releases = twin._hold = twin._pixels = twin._decision = None
    twin._own, twin._further_types, twin._own_columns = Padded(*arrays), types, columns
    twin._ragged = form_of_columns(types) == "ragged"
    twin._shown, twin.epoch, twin.valid = counts
    return twin
