"""Paddle's readers over streams: `has_next()`, `read_next()` and `reset()` on chains of readers.

A chain is a description. The first call of `has_next()` or `read_next()` opens its files as one stream of this
process's own daemon, which shuffles, batches and reads ahead.

Example:
    >>> from forebay import reader
    >>> train = reader.open_files(["/data/train-0.recordio", "/data/train-1.recordio"], size=224)
    >>> train = reader.shuffle(train, buffer_size=1024)
    >>> train = reader.batch(train, batch_size=32)
    >>> while train.has_next():                                                             # doctest: +SKIP
    ...     batch = train.read_next()
    ...     step(batch.images, batch.labels)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar, Union

from forebay import _native
from forebay.batch import Batch
from forebay.errors import SettingsError
from forebay.given import keys_of, refuse_unknown
from forebay.loader import Loader
from forebay.mixture import Sources
from forebay.transforms import ExpectSize

if TYPE_CHECKING:
    from typing_extensions import Self

    from forebay.batches import Batches

__all__ = ["Reader", "batch", "double_buffer", "multi_pass", "multiple", "open_files", "over", "shuffle"]

T = TypeVar("T")

_Path = Union[str, "os.PathLike[str]"]

# What a session says in place of a number if its stream has no further epoch.
_NO_EPOCH = 0


class Reader(Generic[T]):
    """Reads batches one by one.

    A batch counts as consumed when the reader is asked for the next one, by `has_next()` or `read_next()`. As with a
    Loader, you may then still use its arrays until the batch after that is read.

    Make a reader with the functions of this module.
    """

    def __init__(self, batches: Callable[[], Batches[T]], *, as_one: bool, chain: _Chain | None = None) -> None:
        self._make = batches
        self._as_one = as_one
        self._chain = chain
        self._batches: Batches[T] | None = None
        self._begun = False
        self._at_end = self._finished = False

    @property
    def loader(self) -> Batches[T]:
        """The Loader of this reader, for `audit()`, `state_dict()` and the like. It is opened if it was not yet.

        Raises:
            SettingsError: A setting is wrong, or batches do not have the shapes that `open_files` was given.
            Error: Any other error of `forebay.Loader`.
        """
        if self._batches is None:
            self._batches = self._make()
        return self._batches

    def has_next(self) -> bool:
        """Whether there is a further batch. It waits until that is known. Asking twice reads nothing more.

        Raises:
            RecordError: A record is bad, such as a picture that does not have the size in `shapes`.
            Error: Any other error of `Loader.next()`.
        """
        return self._draw(self.loader._feed.draw) is not None

    def read_next(self) -> T:
        """The next batch.

        Raises:
            EOFError: There is none. Call `has_next()` before.
            Error: As for `has_next()`.
        """
        drawn = self._draw(self.loader._draw)
        if drawn is None:
            raise EOFError(
                "the reader is at its end; call reset() to begin the next pass, and has_next() before each read_next()"
            )
        number, batch = drawn
        self._begun = True
        self.loader._feed.session.taken = number  # Last of all: see `Feed.draw`.
        return batch

    def reset(self) -> None:
        """Begins the next pass. What is left of this one is abandoned, and the audit says so.

        If nothing of this pass was read yet, it stays whole. After the last pass of `multi_pass`, no pass follows.

        Raises:
            Error: Other trainers are attached to the stream.
        """
        if self._begun:
            self.loader.reset()
        self._begun = self._at_end = False

    def close(self) -> None:
        """Closes the reader's Loader, if it was opened."""
        if self._batches is not None:
            self._batches.close()

    def _draw(self, draw: Callable[[], tuple[int, Any]]) -> tuple[int, Any] | None:
        """The next batch with its number, or None at the end. Until its number is stored, the batch is drawn again."""
        session = self.loader._feed.session
        while not (self._at_end or self._finished):
            number, drawn = draw()
            if drawn is not None:
                return number, drawn
            finished = number == _NO_EPOCH
            # No exception comes between these lines.
            self._begun = False
            self._finished = finished
            self._at_end = not self._as_one
            session.taken = number
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Chain:
    """Which readers are chained, and the settings of the Loader that the chain becomes."""

    def __init__(self, native: _native.Chain, settings: dict[str, Any]) -> None:
        self.native = native
        self.settings = settings

    def reader(self) -> Reader[Batch]:
        return Reader(self._open, as_one=self.native.has_passes, chain=self)

    def _open(self) -> Loader:
        given = {key: value for key, value in self.settings.items() if value is not None}
        decided = json.loads(self.native.settings(set(given)))
        if "transform" in decided:
            decided["transform"] = [ExpectSize(**step["expect_size"]) for step in decided["transform"]]
        source, keys = keys_of(Sources(decided.pop("source")), given)
        loader = Loader._of_keys(source, {**decided, **keys})
        try:
            ring = loader._feed.session.rings()[0]
            axes = [("images", [None, *ring.images[0][1:]]), ("labels", [None])]
            further = [(name, [None] * (1 + levels) + list(dims)) for name, _, levels, dims in ring.columns]
            self.native.check(axes + further)
        except BaseException:
            loader.close()
            raise
        return loader


def open_files(
    filenames: _Path | Iterable[_Path],
    shapes: Sequence[Sequence[int]] | None = None,
    **settings: Any,  # noqa: ANN401 - those of a Loader
) -> Reader[Batch]:
    """A reader of files, one after the other.

    The daemon finds the format of each file from its name or its content: docs/sources.md lists the formats.

    Args:
        filenames: One path or several. Each may be a file, a folder, a pattern, a name with a scheme or a URL.
        shapes: The shapes that batches must have: of the images, the labels, and the further columns of the dataset.
            The first axis of each is the places of a batch, and must be -1. Another axis may be -1 for any length,
            except that of the 3 colours. A shape of images such as `(-1, 3, 224, 224)` also sets `layout="NCHW"`, and
            1 in place of the 3 sets `mode="L"`, 4 "RGBA", and 2 "LA". If it has a height and a width, and there is no
            `size`, `transform` or `recipe`, pictures are not resized: each of them must have this height and width.
        **settings: Further arguments of a Loader, such as `size`. Those that a reader of the chain decides are refused.

    Raises:
        SettingsError: There is no file, or a shape has no meaning.
        TypeError: A Loader has no such argument.

    Example:
        >>> from forebay import reader
        >>> reader.open_files([])
        Traceback (most recent call last):
        forebay.errors.SettingsError: open_files: there is no file; give at least one path
    """
    refuse_unknown(settings, "open_files")
    names = [filenames] if isinstance(filenames, (str, os.PathLike)) else list(filenames)
    if shapes is not None and any(isinstance(shape, int) for shape in shapes):
        raise SettingsError("open_files: shapes is a list with a shape for each column, such as [(-1, 3, 224, 224)]")
    axes = None if shapes is None else [[int(axis) for axis in shape] for shape in shapes]
    chain = _Chain(_native.Chain.open_files([os.fspath(name) for name in names], axes), settings)
    # A setting that is the chain's is refused where it is given.
    chain.native.settings({key for key, value in settings.items() if value is not None})
    return chain.reader()


def multiple(readers: Iterable[Reader[Batch]]) -> Reader[Batch]:
    """One reader of the files of several readers.

    Raises:
        SettingsError: The readers differ in more than their files, or are chains already.
    """
    if isinstance(readers, Reader):
        raise SettingsError("multiple: give a list of readers, such as [reader.open_files(path)]")
    chains = [_chain(reader, "multiple") for reader in readers]
    native = _native.Chain.multiple([chain.native for chain in chains])
    if any(chain.settings != chains[0].settings for chain in chains):
        raise SettingsError("multiple: its readers have different settings; give all of them the same")
    return _Chain(native, chains[0].settings).reader()


def shuffle(reader: Reader[Batch], buffer_size: int) -> Reader[Batch]:
    """The same in an order of its own for each pass.

    Args:
        reader: A reader of files.
        buffer_size: A number from 1 on. It has no other effect, because a stream shuffles without a buffer. If files
            store several records together, such as in the chunks of RecordIO, `shuffle_window` says how many chunks are
            mixed.

    Raises:
        SettingsError: The reader stands at the wrong place of the chain, or a number is wrong.
    """
    chain = _chain(reader, "shuffle")
    return _Chain(chain.native.shuffle(buffer_size), chain.settings).reader()


def batch(reader: Reader[Batch], batch_size: int) -> Reader[Batch]:
    """The same with this number of records in each batch. Without it, each batch has one record.

    The last batch of a pass may be smaller: `last_batch_policy` says what becomes of it.

    Raises:
        SettingsError: The reader stands at the wrong place of the chain, or a number is wrong.
    """
    chain = _chain(reader, "batch")
    return _Chain(chain.native.batch(batch_size), chain.settings).reader()


def multi_pass(reader: Reader[Batch], pass_num: int) -> Reader[Batch]:
    """The same with so many passes, which are read as one.

    Without it, the reader is at its end after each pass, until `reset()`, and there is no last pass.

    Raises:
        SettingsError: The reader stands at the wrong place of the chain, or a number is wrong.
    """
    chain = _chain(reader, "multi_pass")
    return _Chain(chain.native.multi_pass(pass_num), chain.settings).reader()


def double_buffer(reader: Reader[Batch]) -> Reader[Batch]:
    """The same with two batches ready beside those that the trainer has. A stream does that anyway.

    Raises:
        SettingsError: The reader stands at the wrong place of the chain.
    """
    chain = _chain(reader, "double_buffer")
    return _Chain(chain.native.double_buffer(), chain.settings).reader()


def over(batches: Batches[T]) -> Reader[T]:
    """A reader over a Loader, or over a conversion of one such as `loader.torch()`. It is at its end after each epoch.

    Nothing can be chained to it, since the Loader has its settings already. `close()` closes the Loader.

    Example:
        >>> train = reader.over(forebay.Loader("stream:train"))                             # doctest: +SKIP
    """
    reader = Reader(lambda: batches, as_one=False)
    reader._batches = batches
    return reader


def _chain(reader: Reader[Any], link: str) -> _Chain:
    if not isinstance(reader, Reader):
        raise SettingsError(f"{link}: {type(reader).__name__} is no reader; give one that this module has made")
    if reader._chain is None:
        raise SettingsError(
            f"{link}: this reader is over a Loader, which has its settings already; give them to the Loader"
        )
    if reader._batches is not None:
        raise SettingsError(f"{link}: this reader is open already; chain its readers before you read from it")
    return reader._chain
