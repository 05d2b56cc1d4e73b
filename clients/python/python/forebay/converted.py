"""A Loader whose batches are converted to another type, such as a framework's tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, TypeVar

from forebay.batches import Batches

if TYPE_CHECKING:
    from forebay.batch import Batch

__all__ = ["Converted"]

T = TypeVar("T")


class Converted(Batches[T]):
    """A Loader that gives `T`. Everything else is the same as in the Loader, with which it shares its session.

    Attributes:
        loader: The Loader.

    Example:
        >>> pairs = Converted(loader, lambda batch: (batch.images.copy(), batch.labels.copy()))     # doctest: +SKIP
        >>> for images, labels in pairs:                                                            # doctest: +SKIP
        ...     step(images, labels)
    """

    def __init__(self, loader: Batches[Batch], convert: Callable[[Batch], T]) -> None:
        super().__init__(loader._feed)
        self.loader = loader
        self._conversion = convert

    def _convert(self, batch: Batch) -> T:
        return self._conversion(batch)
