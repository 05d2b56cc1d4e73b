"""A Loader whose batches are converted to another type, such as a framework's tensors."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from forebay.batches import Batches

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.feed import Feed

__all__ = ["Converted"]

T = TypeVar("T")


class Converted(Batches[T]):
    """A Loader that gives `T`. It shares its session with the Loader that it is made of.

    Everything but `for` and `next()` calls that Loader, so what a subclass of `Loader` overrides is used here too.

    Attributes:
        loader: The Loader.

    Example:
        >>> pairs = Converted(loader, lambda batch: (batch.images.copy(), batch.labels.copy()))     # doctest: +SKIP
        >>> for images, labels in pairs:                                                            # doctest: +SKIP
        ...     step(images, labels)
    """

    def __init__(self, loader: Batches[Batch], convert: Callable[[Batch], T]) -> None:
        self.loader = loader
        self._conversion = convert

    @property
    def _feed(self) -> Feed:  # type: ignore[override] - only a Loader sets it
        return self.loader._feed

    def __repr__(self) -> str:
        kind = type(self)
        return f"<{kind.__module__.removesuffix('.tensors')}.{kind.__name__} of {self.loader!r}>"

    def _draw(self, timeout: float | None = None) -> tuple[int, T | None]:
        number, batch = self.loader._draw(timeout)
        return number, None if batch is None else self._conversion(batch)


def _passed_on(name: str) -> Any:  # noqa: ANN401 - a method or a property
    """A method or property that calls the Loader's. Its documentation and signature are those of `Batches`."""
    documented = getattr(Batches, name)
    if isinstance(documented, property):
        return property(lambda self: getattr(self.loader, name), doc=documented.__doc__)

    @functools.wraps(documented)
    def method(self: Converted[Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the Loader's
        return getattr(self.loader, name)(*args, **kwargs)

    return method


# Type checkers take these from `Batches`.
for _name in vars(Batches):
    if _name == "__len__" or not (_name.startswith("_") or _name == "next"):
        setattr(Converted, _name, _passed_on(_name))
