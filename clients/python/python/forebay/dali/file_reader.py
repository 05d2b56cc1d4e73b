"""`fn.readers.file` of DALI: its arguments, what becomes of each, and the files that they name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from forebay.dali import files as listing
from forebay.dali.shards import Shards
from forebay.errors import DatasetError, SettingsError

__all__ = ["FileReader"]


class FileReader:
    """Pictures and labels from files, with the arguments of DALI's `fn.readers.file`.

    It lists the files at once. A `Pipeline` reads them.

    Args:
        file_root: A folder of class folders, or where relative paths of `file_list` and `files` start.
        file_list: A text file, each line of which has a path and a label.
        files: A list of paths.
        labels: Labels of `files`. None numbers the files.
        file_filters: Patterns of the names of files below `file_root`. None is DALI's list without sounds.
        dir_filters: Patterns of the names of class folders. None is all.
        case_sensitive_filter: Whether case matters to the patterns.
        shard_id: Which of `num_shards` shards the first epoch reads, from 0.
        num_shards: Number of shards, at most the number of files.
        stick_to_shard: True reads the same shard in every epoch. Otherwise the shards rotate. With `random_shuffle`, a
            shard is a part of each epoch's order, and so has other files in each epoch.
        pad_last_batch: True repeats a shard's last record, so that all shards have the same number of batches. False
            reads on in the next shard.
        random_shuffle: True gives each epoch its own order of all files.
        shuffle_after_epoch: The same, and each epoch reads the shard `shard_id`. Not with `random_shuffle` and
            `stick_to_shard`.
        shuffle_after_epoch_seed: Seed of the order and of random transforms, in place of `seed`.
        seed: Seed of the order and of random transforms; -1 and None are the pipeline's. With several shards and
            shuffling, all readers need one order: `seed` is then ignored, and `shuffle_after_epoch_seed` is used, or 0.
        name: Name of the reader, for `reader_name` of an iterator.
        device: "cpu" or None.
        initial_fill: Ignored: all files are shuffled, without a buffer.
        prefetch_queue_depth: Ignored: give that of the `Pipeline`.
        read_ahead: Ignored, as are `lazy_init`, `skip_cached_images`, `dont_use_mmap`, `tensor_init_bytes`,
            `bytes_per_sample_hint` and `preserve`: the daemon reads ahead, and no batch depends on them.
        lazy_init: Ignored.
        skip_cached_images: Ignored.
        dont_use_mmap: Ignored.
        tensor_init_bytes: Ignored.
        bytes_per_sample_hint: Ignored.
        preserve: Ignored.

    Attributes:
        samples: Path and label of each record.
        shards: How the records are shared.
        is_shuffled: Whether each epoch has its own order.
        name: As given.

    Raises:
        SettingsError: Arguments are wrong or contradict each other.
        DatasetError: There are no files, or a folder cannot be read.

    Example:
        >>> reader = FileReader(file_root="/data/train", pad_last_batch=True, name="Reader")        # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        file_root: str | os.PathLike[str] | None = None,
        file_list: str | os.PathLike[str] | None = None,
        files: Sequence[str | os.PathLike[str]] | None = None,
        labels: Sequence[int] | None = None,
        file_filters: Sequence[str] | None = None,
        dir_filters: Sequence[str] | None = None,
        case_sensitive_filter: bool = False,
        shard_id: int = 0,
        num_shards: int = 1,
        stick_to_shard: bool = False,
        pad_last_batch: bool = False,
        random_shuffle: bool = False,
        shuffle_after_epoch: bool = False,
        shuffle_after_epoch_seed: int | None = None,
        seed: int | None = -1,
        name: str | None = None,
        device: str | None = None,
        initial_fill: int = 1024,  # noqa: ARG002 - the docstring says why
        prefetch_queue_depth: int = 1,  # noqa: ARG002 - the same
        read_ahead: bool = False,  # noqa: ARG002 - the same
        lazy_init: bool = False,  # noqa: ARG002 - the same
        skip_cached_images: bool = False,  # noqa: ARG002 - the same
        dont_use_mmap: bool = False,  # noqa: ARG002 - the same
        tensor_init_bytes: int = 1048576,  # noqa: ARG002 - the same
        bytes_per_sample_hint: Any = None,  # noqa: ANN401, ARG002 - the same
        preserve: bool = False,  # noqa: ARG002 - the same
    ) -> None:
        if device not in (None, "cpu"):
            raise SettingsError(f"device={device!r}: the daemon reads files. Leave it out")
        if shuffle_after_epoch and (stick_to_shard or random_shuffle):
            other = "stick_to_shard" if stick_to_shard else "random_shuffle"
            raise SettingsError(f"shuffle_after_epoch and {other} exclude each other, as in DALI: leave one out")
        if num_shards < 1 or not 0 <= shard_id < num_shards:
            raise SettingsError(f"shard_id={shard_id}, num_shards={num_shards}: give shards from 0 to num_shards - 1")
        self.samples = _samples(file_root, file_list, files, labels, file_filters, dir_filters, case_sensitive_filter)
        records = len(self.samples)
        if records < num_shards:
            raise SettingsError(
                f"num_shards={num_shards}: there are only {records} files; give each shard one at least"
            )
        stick = bool(stick_to_shard or shuffle_after_epoch)
        self.shards = Shards(records, num_shards, shard_id, stick, bool(pad_last_batch))
        self.is_shuffled = bool(random_shuffle or shuffle_after_epoch)
        self.name = name
        self._seed = _given(seed)
        self._order_seed = _given(shuffle_after_epoch_seed)

    def seed(self, of_pipeline: int | None) -> int:
        """The seed of the stream, from 0.

        Args:
            of_pipeline: The pipeline's seed. -1 and None are none.
        """
        if self._order_seed is not None:
            return self._order_seed
        # Scripts often give each rank its own seed. DALI's order of all files ignores it too.
        found = None if self._needs_one_order else self._first_given(of_pipeline)
        return 0 if found is None else found

    def ignored_seed(self, of_pipeline: int | None) -> int | None:
        """The seed that the caller gave and that has no effect, since all readers need one order; else None."""
        if self._order_seed is not None or not self._needs_one_order:
            return None
        return self._first_given(of_pipeline)

    @property
    def _needs_one_order(self) -> bool:
        return self.is_shuffled and self.shards.count > 1

    def _first_given(self, of_pipeline: int | None) -> int | None:
        return _given(of_pipeline) if self._seed is None else self._seed

    def __repr__(self) -> str:
        shards = self.shards
        return f"<forebay.dali.FileReader of {shards.records} files, shard {shards.shard_id} of {shards.count}>"


def _given(seed: int | None) -> int | None:
    """A seed, unless it has a value that stands for none in DALI."""
    return None if seed is None or seed < 0 else seed


def _samples(
    root: Any,  # noqa: ANN401 - as `FileReader`
    list_file: Any,  # noqa: ANN401 - as `FileReader`
    files: Sequence[Any] | None,
    labels: Sequence[int] | None,
    file_filters: Sequence[str] | None,
    dir_filters: Sequence[str] | None,
    case_sensitive: bool,
) -> list[tuple[str, int]]:
    if root is None and list_file is None and files is None:
        raise SettingsError("file_root is missing: give it, or file_list, or files")
    if list_file is not None and files is not None:
        raise SettingsError("file_list and files exclude each other: give one of them")
    if labels is not None and files is None:
        raise SettingsError("labels are those of files: give files, or leave labels out")
    for name, value in (("file_root", root), ("file_list", list_file)):
        if value is not None:
            listing.refuse_url(name, value)
    if files is not None:
        found = listing.given(files, labels, root)
    elif list_file is not None:
        found = listing.in_list(list_file, root)
    else:
        found = listing.below(root, file_filters, dir_filters, case_sensitive=case_sensitive)
    if not found:
        where = "files" if files is not None else repr(os.fspath(root if list_file is None else list_file))
        raise DatasetError(f"there are no files in {where}. Below file_root, pictures must be in folders of classes")
    return found
