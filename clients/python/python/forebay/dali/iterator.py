"""DALI's iterators over pipelines: their arguments, epochs and `reset()`."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Sequence
from typing import Any

from forebay.dali.counting import Count, ReaderCount, SizeCount
from forebay.dali.pipeline import Pipeline
from forebay.dali.report import EpochReport, Showing
from forebay.dali.rooms import rooms_for
from forebay.dali.samples import Filling
from forebay.errors import SettingsError
from forebay.policy import LastBatchPolicy

__all__ = ["DALIClassificationIterator", "DALIGenericIterator"]

_log = logging.getLogger("forebay")

_RESETS = {"yes": True, "true": True, "no": False, "false": False, "none": False}


class DALIGenericIterator:
    """The batches of pipelines as DALI's iterator for PyTorch gives them: a list with a dict for each pipeline.

    Where PyTorch is installed, the dicts have tensors, in memory of their own. Images are as the pipeline's settings
    say, and labels are `(n, 1)` of int32. At the end of an epoch the iterator raises StopIteration, and does so again
    until `reset()` is called or a new `for` begins.

    Without shuffling, each batch has the records that DALI's has. This includes records that `pad_last_batch=False`
    takes from a later epoch, and empty batches. `report()` lists what was repeated, borrowed and dropped.

    Args:
        pipelines: A Pipeline, or a list with one for each GPU. They have the same `batch_size`.
        output_map: Names of the images and of the labels in the dicts.
        size: Samples of an epoch of all pipelines, if there is no `reader_name`. -1 has no end.
        reader_name: Name of the readers, which then say how large epochs are.
        auto_reset: True or "yes" calls `reset()` at the end of each epoch.
        fill_last_batch: Deprecated: True is `LastBatchPolicy.FILL`, False is `LastBatchPolicy.PARTIAL`.
        dynamic_shape: Ignored, as in DALI.
        last_batch_padded: Whether the readers pad, if there is no `reader_name`.
        last_batch_policy: What happens if an epoch's last batch is not full. One of `LastBatchPolicy`, or its name.
        prepare_first_batch: True draws the first batch at once.
        as_numpy: True gives numpy arrays, also where PyTorch is installed.

    Attributes:
        batch_size: Samples of a batch of one pipeline.

    Raises:
        SettingsError: Arguments contradict each other, or no epoch would have a batch.
        Error: Any error of `forebay.Loader`.

    Example:
        >>> train = DALIGenericIterator([pipeline], ["data", "label"], reader_name="Reader")        # doctest: +SKIP
        >>> for epoch in range(90):                                                                 # doctest: +SKIP
        ...     for data in train:
        ...         step(data[0]["data"], data[0]["label"].squeeze(-1).long())
        ...     train.reset()
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: Any = False,  # noqa: ANN401, ARG002 - as DALI, which ignores it
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy | str = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        as_numpy: bool = False,
    ) -> None:
        self._pipelines = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines)
        self._output_map = list(output_map)
        if len(self._output_map) != 2 or len(set(self._output_map)) != 2:
            raise SettingsError(f"output_map={output_map!r}: give two names, for the images and for the labels")
        resets = _RESETS.get(str(auto_reset).lower())
        if resets is None:
            raise SettingsError(f'auto_reset={auto_reset!r}: give "yes", "no", True or False')
        self._auto_reset = resets
        policy = LastBatchPolicy.of(last_batch_policy)
        if fill_last_batch is not None:
            warnings.warn("fill_last_batch is deprecated: give last_batch_policy", FutureWarning, stacklevel=2)
            policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        self._count = _count(self._pipelines, int(size), reader_name, policy, padded=last_batch_padded)
        self.batch_size = self._pipelines[0].batch_size
        self._rooms = [rooms_for(pipeline.device_id, as_numpy=as_numpy) for pipeline in self._pipelines]
        # The batches that are being put together; after an exception the next call goes on with them.
        self._fillings: list[Filling] | None = None
        self._shown: list[int] | None = None
        self._epoch = 0
        # The number of the next batch of the epoch, for the report.
        self._number = 1
        self._reports: list[EpochReport] = []
        self._showings = self._begun(0)
        for pipeline in self._pipelines:
            pipeline.build()
        self._first = self._drawn() if prepare_first_batch else None

    def __iter__(self) -> DALIGenericIterator:
        """This iterator. After the end of an epoch it begins the next one, as in DALI."""
        # A first batch that waits is not yet shown, even if it is the only one of its epoch.
        if self._first is None and (self._is_over or self._drops_next):
            self.reset()
        return self

    def __next__(self) -> list[dict[str, Any]]:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        batches = None if self._is_over else self._drawn()
        if batches is None:
            if self._auto_reset:
                self.reset()
            raise StopIteration
        return batches

    def next(self) -> list[dict[str, Any]]:
        """The next batches, as `next(iterator)`."""
        return self.__next__()

    def reset(self) -> None:
        """Begins the next epoch. Before the end of an epoch this does nothing but warn, as in DALI."""
        if not self._is_over and self._drops_next:
            # Scripts that go by `len()` do not ask for the batch that is left out.
            self._drawn()
        if self._count.size > 0 and not self._is_over:
            _log.warning("reset() does nothing before the end of the epoch, as in DALI: read it to its end")
            return
        count = copy.copy(self._count)
        count.begin_next()
        epoch, reports, showings = self._epoch, self._reports, self._showings
        if count.size > 0:
            reports, epoch = self.report(), epoch + 1
            showings = self._begun(epoch)
        # No call is between these, and so no exception: see `Feed.draw`.
        self._count, self._epoch, self._number = count, epoch, 1
        self._reports, self._showings = reports, showings

    @property
    def size(self) -> int:
        """Samples of the current epoch, as DALI counts them: of one pipeline with `reader_name`, else of all."""
        return self._count.size

    def __len__(self) -> int:
        """Batches of an epoch."""
        return len(self._count)

    def report(self) -> list[EpochReport]:
        """What each pipeline showed in each epoch, up to now. Of an iterator without end, nothing.

        A batch that `prepare_first_batch` drew is counted as shown.
        """
        return [*self._reports, *(report for showing in self._showings for report in showing.made())]

    def close(self) -> None:
        """Ends the pipelines. Batches stay valid."""
        for pipeline in self._pipelines:
            pipeline.close()

    @property
    def _is_over(self) -> bool:
        """Whether the epoch has no further batch. One that is being put together is counted already."""
        return self._fillings is None and self._count.is_over

    @property
    def _drops_next(self) -> bool:
        """Whether the next batch is left out."""
        return self._count.drops_next() if self._fillings is None else self._shown is None

    def _begun(self, epoch: int) -> list[Showing]:
        return [Showing(epoch, at, pipeline.reader.shards) for at, pipeline in enumerate(self._pipelines)]

    def _drawn(self) -> list[dict[str, Any]] | None:
        """The next batches, or None if they are left out. After an exception, the next call goes on where it was."""
        if self._fillings is None:
            count = copy.copy(self._count)
            shown = count.advance()
            # With a number of samples, the last pipelines may show nothing.
            places = [*(shown or []), *[0] * len(self._pipelines)]
            fillings = [
                pipeline.filling(places[at], rooms)
                for at, (pipeline, rooms) in enumerate(zip(self._pipelines, self._rooms))
            ]
            # No call is between these, and so no exception: see `Feed.draw`.
            self._count, self._shown, self._fillings = count, shown, fillings
        outputs = [filling.finish() for filling in self._fillings]
        if self._count.size > 0:
            for showing, filling in zip(self._showings, self._fillings):
                showing.add(self._number, filling.runs, filling.records, filling.shown)
        batches = None
        if self._shown is not None:
            batches = [dict(zip(self._output_map, output)) for output in outputs[: len(self._shown)]]
        # The same.
        self._fillings, self._number = None, self._number + 1
        return batches


class DALIClassificationIterator(DALIGenericIterator):
    """A `DALIGenericIterator` whose outputs are `data` and `label`.

    Example:
        >>> train = DALIClassificationIterator([pipeline], reader_name="Reader")                    # doctest: +SKIP
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: Any = False,  # noqa: ANN401 - as DALI, which ignores it
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy | str = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        as_numpy: bool = False,
    ) -> None:
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            as_numpy=as_numpy,
        )


def _count(
    pipelines: Sequence[Pipeline], size: int, reader_name: str | None, policy: LastBatchPolicy, *, padded: bool
) -> Count:
    """How the epochs of these pipelines are counted.

    Raises:
        SettingsError: Arguments contradict each other, or no epoch would have a batch.
    """
    if not pipelines:
        raise SettingsError("pipelines is empty: give one at least")
    batch_size = pipelines[0].batch_size
    if any(pipeline.batch_size != batch_size for pipeline in pipelines):
        raise SettingsError("pipelines: they differ in batch_size; give all of them the same")
    if size == 0:
        raise SettingsError("size=0: give a number of samples, or reader_name")
    if reader_name is None:
        if size < 0 and len(pipelines) > 1:
            raise SettingsError("size is missing: several pipelines need reader_name, or the size of all together")
        count: Count = SizeCount(size, len(pipelines), batch_size, policy, padded=padded)
    else:
        if size > 0 or padded:
            name = "size" if size > 0 else "last_batch_padded"
            raise SettingsError(
                f"{name}: the reader {reader_name!r} knows this; leave it out, or leave reader_name out"
            )
        metas = [pipeline.reader_meta(reader_name) for pipeline in pipelines]
        differs = next((key for key in metas[0] if key != "shard_id" and len({meta[key] for meta in metas}) > 1), None)
        if differs is not None:
            raise SettingsError(f"pipelines: their readers differ in {differs}; give all of them the same")
        count = ReaderCount([pipeline.reader.shards for pipeline in pipelines], batch_size, policy)
    if count.drops_next():
        raise SettingsError(
            f"last_batch_policy: with DROP no epoch has a batch, since batch_size={batch_size} is larger than the "
            "smallest shard, or the batches of all pipelines than size. Give a smaller batch_size, or PARTIAL"
        )
    return count
