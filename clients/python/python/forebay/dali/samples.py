"""The samples of a Loader one after the other, and batches that are put together of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from forebay.dali.reading import Run
from forebay.errors import Error

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.loader import Loader

__all__ = ["Filling", "Room", "Rooms", "Samples"]


class Room(Protocol):
    """Where a column of a batch is put together.

    Attributes:
        array: Where to write.
    """

    array: np.ndarray

    def made(self) -> object:
        """The column as the user gets it. Nobody writes to the array afterwards."""
        ...


class Rooms(Protocol):
    """Makes room for batches."""

    def room(self, shape: tuple[int, ...], dtype: np.dtype) -> Room:
        """Room for a column."""
        ...


class Samples:
    """The samples of a Loader, over the borders of its batches and epochs.

    The batches of the Loader have the same size as the reader's, but other borders.

    Attributes:
        at: Where in the Loader's batch the next sample is. The caller adds the number of samples that it takes.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._batch: Batch | None = None
        self.at = 0

    def next(self, run: Run) -> tuple[Batch, int, int]:
        """A batch of the Loader, and where in it the samples of a run begin.

        Returns:
            The batch, the place of the first sample, and how many of the run follow each other there. For padding, the
            place of the sample that is repeated, and 1.

        Raises:
            Error: The Loader was used elsewhere, so that it is in another epoch than the reader.
        """
        if run.is_padding:
            assert self._batch is not None, "padding follows a sample"
            return self._batch, self.at - 1, 1
        if self._batch is None or self.at == len(self._batch):
            self._draw()
        batch = self._batch
        # Static shards leave out no batch of an epoch.
        if batch is None or batch.epoch != run.epoch:
            raise Error(
                "the pipeline's loader was used elsewhere, so its samples are no longer those of DALI's reader: make a "
                "new Pipeline, and leave next(), reset() and load_state_dict() of its loader alone"
            )
        return batch, self.at, min(run.count, len(batch) - self.at)

    def _draw(self) -> None:
        batch = self._loader.next()
        if batch is None:
            # That was an end of an epoch, and there is always a next one.
            batch = self._loader.next()
        self._batch, self.at = batch, 0


class Filling:
    """A batch while it is put together. After an exception, `finish()` goes on where it was.

    Args:
        samples: Where the samples come from.
        runs: Which samples they are.
        shown: How many of them the batch has. The others are only drawn.
        rooms: Where the batch is put together.

    Attributes:
        runs: As given.
        shown: As given.
        rooms: As given.
        records: Record number of each sample, also of those that are not shown.
    """

    def __init__(self, samples: Samples, runs: Sequence[Run], shown: int, rooms: Rooms) -> None:
        self.runs = runs
        self.shown = shown
        self.rooms = rooms
        self.records = np.empty(sum(run.count for run in runs), np.int64)
        self._samples = samples
        self._left = list(reversed(runs))
        self._place = 0
        self._images: Room | None = None
        self._labels: Room | None = None

    @property
    def has_begun(self) -> bool:
        """Whether some of its samples were taken from the Loader."""
        return self._place > 0

    @property
    def is_full(self) -> bool:
        """Whether all of its samples were taken from the Loader."""
        return not self._left

    def finish(self) -> tuple[object, object]:
        """Draws all samples, and gives images and labels.

        Raises:
            Error: A bad record has no picture in its place.
        """
        while self._left:
            run = self._left[-1]
            batch, at, count = self._samples.next(run)
            records = batch.records[at : at + count]
            if (records < 0).any():
                raise Error(
                    "a bad record could not be replaced, because all records near it are bad: see loader.quarantine of "
                    "the pipeline, and mend or remove these files"
                )
            if self._images is None or self._labels is None:
                self._images, self._labels = self._begin(batch)
            # Padding copies one sample into all its places.
            until = self._place + (run.count if run.is_padding else count)
            seen = max(min(until, self.shown) - self._place, 0)
            source = slice(at, at + (1 if run.is_padding else seen))
            if seen:
                self._images.array[self._place : self._place + seen] = batch.images[source]
                self._labels.array[self._place : self._place + seen, 0] = batch.labels[source]
            self.records[self._place : until] = records
            del records  # A view keeps the slot, and the next samples may need it.
            left = self._left[:-1]
            if until - self._place < run.count:
                left.append(run._replace(first=run.first + count, count=run.count - count))
            # No call is between these lines, and so no exception: see `Feed.draw`.
            self._samples.at += 0 if run.is_padding else count
            self._left, self._place = left, until
        assert self._images is not None, "a batch has samples"
        assert self._labels is not None, "the same"
        return self._images.made(), self._labels.made()

    def _begin(self, batch: Batch) -> tuple[Room, Room]:
        """Room for images and labels. No array of the batch outlives this call, since it would keep the slot."""
        images = batch.images
        assert isinstance(images, np.ndarray), "the pixels are in the host"
        # DALI's labels are one number in an array.
        labels = self.rooms.room((self.shown, 1), np.dtype(np.int32))
        return self.rooms.room((self.shown, *images.shape[1:]), images.dtype), labels
