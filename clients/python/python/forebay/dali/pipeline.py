"""The replacement of a DALI pipeline: a file reader, and a Loader that decodes and transforms its pictures."""

from __future__ import annotations

import copy
import logging
from typing import Any

from forebay.dali.file_reader import FileReader
from forebay.dali.reading import Reading
from forebay.dali.samples import Filling, Rooms, Samples
from forebay.errors import Error, SettingsError
from forebay.groups import Shard
from forebay.loader import Loader

__all__ = ["Pipeline"]

_log = logging.getLogger("forebay")

# Arguments of DALI's Pipeline on which no batch depends.
_IGNORED = frozenset(
    (
        "exec_pipelined",
        "exec_async",
        "exec_dynamic",
        "experimental_exec_dynamic",
        "bytes_per_sample",
        "set_affinity",
        "max_streams",
        "default_cuda_stream_priority",
        "enable_memory_stats",
        "py_num_workers",
        "py_start_method",
        "py_callback_pickler",
    )
)
_OF_READER = "give it to the FileReader"
_OF_ITERATOR = "give it to the iterator"
_ENDLESS = "the iterator decides where epochs end: leave it out"
_RESUME = "an iterator of DALI cannot be resumed here. forebay.Loader has state_dict() and load_state_dict()"
# What has its place elsewhere, or would change which samples the Loader gives.
_REFUSED = {
    **dict.fromkeys(("shuffle", "shuffle_window", "sharding"), _OF_READER),
    # DALI's own names.
    **dict.fromkeys(("random_shuffle", "shard_id", "num_shards", "stick_to_shard", "pad_last_batch"), _OF_READER),
    "last_batch_policy": _OF_ITERATOR,
    **dict.fromkeys(("epochs", "repeats"), _ENDLESS),
    **dict.fromkeys(("run", "enable_checkpointing", "checkpoint"), _RESUME),
    "targets": "the FileReader has the labels of its files",
    "socket": "a FileReader's files are read by this process's own daemon. For a stream, use forebay.Loader",
    "placement": "batches are put together in the host: leave it out, and give device_id for tensors in a GPU",
    "pin_memory": "with device_id, batches are put together in page-locked memory: leave it out",
    "output_dtype": "give dtype, the type of the images",
    "output_ndim": "images have 4 dimensions and labels 2: leave it out",
}


class Pipeline:
    """Reads, decodes and transforms what a `FileReader` lists. It has two outputs: images and labels.

    The daemon runs no graph of DALI's operators. `transform` has what the graph did to the pictures.

    Args:
        reader: The files.
        batch_size: Samples of a batch.
        num_threads: Decode threads. None and -1 use all cores.
        device_id: The GPU on which the tensors of the iterator will be. None is the host.
        seed: Seed of the order and of random transforms; -1 and None are 0. Ignored as `seed` of `FileReader` is.
        prefetch_queue_depth: Batches that are ready ahead.
        **settings: Settings of a `forebay.Loader`, such as `transform`, `size`, `dtype`, `layout`, `cache`, `config`
            and `on_error`. Arguments of DALI's `Pipeline` that change no batch are ignored, such as `exec_async`.

    Attributes:
        reader: As given.
        batch_size: As given.
        device_id: As given.
        loader: The `forebay.Loader`, for `audit()`, `quarantine` and the like. None before `build()`. Only read it: its
            batches are the iterator's, which stops with an error if somebody else draws them.

    Raises:
        SettingsError: A setting is refused. The message says what to use instead.

    Example:
        >>> pipeline = Pipeline(reader, batch_size=256, num_threads=8, device_id=0, size=224)       # doctest: +SKIP
    """

    def __init__(
        self,
        reader: FileReader,
        batch_size: int,
        num_threads: int | None = None,
        device_id: int | None = None,
        seed: int | None = -1,
        *,
        prefetch_queue_depth: int = 2,
        **settings: Any,  # noqa: ANN401 - those of a Loader
    ) -> None:
        if not isinstance(reader, FileReader):
            raise SettingsError(f"reader={reader!r}: give a forebay.dali.FileReader")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise SettingsError(f"batch_size={batch_size!r}: give a number of 1 or more")
        if not isinstance(prefetch_queue_depth, int):
            raise SettingsError(
                f"prefetch_queue_depth={prefetch_queue_depth!r}: there is one queue, of finished batches; give a number"
            )
        if settings.get("on_error") == "skip":
            raise SettingsError('on_error="skip": DALI\'s outputs do not tell which places are skipped: give "replace"')
        for name, value in settings.items():
            if name in _REFUSED and value is not None and value is not False:
                raise SettingsError(f"{name}: {_REFUSED[name]}")
        ignored = reader.ignored_seed(seed)
        if ignored is not None:
            _log.warning(
                "seed=%d is ignored: with several shards and a shuffled order, all ranks need one seed. Give all ranks "
                "the same shuffle_after_epoch_seed",
                ignored,
            )
        self.reader = reader
        self.batch_size = batch_size
        self.device_id = None if device_id is None or device_id < 0 else device_id
        self.loader: Loader | None = None
        self._settings = {
            **{name: value for name, value in settings.items() if name not in _IGNORED and name not in _REFUSED},
            "num_threads": None if num_threads is None or num_threads < 0 else num_threads,
            "prefetch_queue_depth": prefetch_queue_depth,
            "seed": reader.seed(seed),
        }
        self._reading = Reading(reader.shards)
        self._samples: Samples | None = None
        self._filling: Filling | None = None

    def build(self) -> None:
        """Begins to read. An iterator calls this. Does nothing if it was called before.

        Raises:
            Error: Any error of `forebay.Loader`.
        """
        if self.loader is not None:
            return
        shards = self.reader.shards
        self.loader = Loader(
            self.reader.samples,
            batch_size=self.batch_size,
            shuffle=self.reader.is_shuffled,
            sharding=Shard(shards.shard_id, shards.count, stick_to_shard=shards.stick, pad_last_batch=False),
            last_batch_policy="partial",
            **self._settings,
        )
        self._samples = Samples(self.loader)

    def filling(self, shown: int, rooms: Rooms) -> Filling:
        """The next batch of the reader, which is still to be put together. For iterators.

        If an iterator gave up before the batch was put together, this is that batch again.

        Args:
            shown: How many of its samples the iterator shows.
            rooms: Where they are put together.

        Raises:
            Error: Another iterator gave up within the batch, and its part cannot be used.
        """
        assert self._samples is not None, "the iterator has called build()"
        reading, before = self._reading, self._filling
        if before is None or before.is_full:
            reading = copy.copy(reading)
            filling = Filling(self._samples, reading.batch(self.batch_size), shown, rooms)
        elif not before.has_begun:
            filling = Filling(self._samples, before.runs, shown, rooms)
        elif (before.shown, type(before.rooms)) == (shown, type(rooms)):
            filling = before
        else:
            raise Error("an iterator before this one stopped within a batch: go on with it, or make a new Pipeline")
        # No call is between these, and so no exception: see `Feed.draw`.
        self._reading, self._filling = reading, filling
        return filling

    def epoch_size(self, name: str | None = None) -> int | dict[str, int]:
        """Number of records of the reader with this name; of all readers, by name, if it is None."""
        if name is None:
            return {reader: meta["epoch_size"] for reader, meta in self.reader_meta().items()}
        return self.reader_meta(name)["epoch_size"]

    def reader_meta(self, name: str | None = None) -> Any:  # noqa: ANN401 - a dict, or a dict of dicts
        """What DALI tells of a reader.

        The keys are `epoch_size`, `epoch_size_padded`, `number_of_shards`, `shard_id`, `pad_last_batch` and
        `stick_to_shard`.

        Args:
            name: Name of the reader. None gives a dict of all readers that have a name.

        Raises:
            SettingsError: The pipeline's reader has another name.
        """
        own = self.reader.name
        if name is None:
            return {} if own is None else {own: self.reader.shards.meta()}
        if name != own:
            has = "no name" if own is None else f"the name {own!r}"
            raise SettingsError(
                f"reader_name={name!r}: the pipeline's reader has {has}; give FileReader(name={name!r})"
            )
        return self.reader.shards.meta()

    def close(self) -> None:
        """Ends reading. What the iterator gave stays valid."""
        if self.loader is not None:
            self.loader.close()

    def __repr__(self) -> str:
        return f"<forebay.dali.Pipeline of {self.reader!r} batch_size={self.batch_size}>"
