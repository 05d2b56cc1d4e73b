"""The Loader: how it attaches, and what it gives. Its arguments are in `arguments.py`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from forebay import frameworks
from forebay._cuda.driver import NoDriverError
from forebay.arguments import Arguments
from forebay.attachment import attach
from forebay.batch import Batch
from forebay.called_here import CalledHere, called_here
from forebay.column_names import names_of
from forebay.errors import GpuError, SettingsError
from forebay.given import keys_of, refuse_part
from forebay.groups import Source
from forebay.ranks import fill_in, refuse_unsharded
from forebay.settings import AnySource, request, socket_path

if TYPE_CHECKING:
    from forebay.torch.batch import TorchBatch
    from forebay.torch.tensors import TorchLoader

__all__ = ["Loader"]


class Loader(Arguments):
    """Batches of decoded pictures.

    One `for` loop over a Loader is one epoch. Epochs belong to the stream: a `for` joins the stream's current epoch. If
    you leave a loop early, the next `for` continues in the same epoch. The constructor's docstring has the arguments.

    Example:
        >>> loader = forebay.Loader("/data/train", batch_size=256, size=224, shuffle=True)      # doctest: +SKIP
        >>> for epoch in range(90):                                                             # doctest: +SKIP
        ...     for batch in loader:
        ...         step(batch.images, batch.labels)
    """

    _keys: dict[str, Any]

    @classmethod
    def _of_keys(cls, source: AnySource, keys: Mapping[str, Any]) -> Loader:
        """A Loader by the keys of the daemon. `keys_of` makes them from arguments."""
        loader = cls.__new__(cls)
        loader._attach(source, source, keys)
        return loader

    def _start(self, source: AnySource, given: Mapping[str, Any]) -> None:
        refuse_part(given.get("sharding"))
        bare, keys = keys_of(source, given)
        self._attach(source, bare, keys)

    def _attach(self, shown: AnySource, source: AnySource, keys: Mapping[str, Any]) -> None:
        ranks = frameworks.ranks()
        given = fill_in({name: value for name, value in keys.items() if value is not None}, os.environ, ranks)
        self._keys = given
        socket = given.get("socket")
        given, steps = _functions(given)
        asked = request(
            source,
            given,
            by_name=socket is not None,
            interpreter=sys.executable,
            modules=sys.path,
            steps=None if steps is None else steps.socket,
        )
        refuse_unsharded(given, os.environ, ranks, asked.stream)
        path = None if socket is None else socket_path(socket)
        self._feed = attach(asked, path, given.get("placement"), writable=given.get("writable", False), steps=steps)
        self._source = shown
        if given.get("pin_memory"):
            try:
                self.pin()
            except NoDriverError as error:
                # The caller's line: through `_start`, the constructor and its wrapper.
                warnings.warn(f"pin_memory=True has no effect: {error}", stacklevel=5)
            except GpuError:
                self._feed.session.close()
                raise

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[False] = False,
        elements: None = None,
        names: None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[TorchBatch]: ...

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[False] = False,
        elements: Sequence[str],
        names: None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[tuple[Any, ...]]: ...

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[True],
        elements: Sequence[str] | None = None,
        names: None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[dict[str, Any]]: ...

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[False] = False,
        elements: None = None,
        names: Literal["timm", "siglip2", "gemma4"],
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[tuple[dict[str, Any], TorchBatch]]: ...

    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,
        as_dict: bool = False,
        elements: Sequence[str] | None = None,
        names: str | None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[Any]:
        """A loader that gives the same batches as PyTorch tensors.

        Args:
            copy: True makes fresh tensors, which you may keep and write to. False makes views on the ring. A write to a
                view in the host crashes the process, and you must not write to a view in a GPU. `forebay.gpu.GpuArray`
                says how long a view in a GPU keeps its slot in use.
            device: Device of the tensors. Copies to a GPU are asynchronous, and the slot returns to the daemon when
                they are done. Give the Loader `pin_memory=True` for that. None is the host. If the pixels are in a GPU,
                None is the GPU that PyTorch uses now, or else the one that has the pixels.
            as_dict: True gives a dict. Its keys are the names of the columns, `valid` and `epoch`. If the dataset has
                further columns, the dict also has the key `validity`. False gives a `forebay.torch.TorchBatch`, which
                unpacks as `(images, labels)` and has the other columns by name.
            elements: Names of columns, such as `("images", "labels")`. A batch is then a tuple of these tensors, or a
                dict with `as_dict=True`. None gives all columns.
            names: With `patches`: "timm", "siglip2" or "gemma4". A batch is then a pair: the inputs of a model of that
                package, a dict with the names, types and values that its own loader or processor gives, and the
                `forebay.torch.TorchBatch` with labels, mask and the like. None gives the batch alone.
            num_classes: Makes soft labels: `labels` is then `(n, num_classes)` of float32, as `Batch.soft_labels` gives
                it. None leaves labels as numbers.
            label_smoothing: The part of each soft label that all classes share. Needs `num_classes`.

        Raises:
            ImportError: PyTorch is not installed.
            SettingsError: `label_smoothing` without `num_classes`, `elements` names no column of the dataset, or
                `names` is no such name, or the stream has no patches.

        Example:
            >>> for images, labels in loader.torch(device="cuda"):                              # doctest: +SKIP
            ...     loss = criterion(model(images), labels)
            >>> for batch in loader.torch(device="cuda"):                                       # doctest: +SKIP
            ...     losses = criterion(model(batch.images), batch.labels) * batch.mask
            >>> for images, boxes in loader.torch(elements=("images", "boxes")):                # doctest: +SKIP
            ...     loss = detector(images, boxes)
        """
        from forebay.torch.patches import NAMES
        from forebay.torch.tensors import TorchLoader

        soft = None if num_classes is None else (num_classes, label_smoothing)
        if soft is None and label_smoothing:
            raise SettingsError("label_smoothing: give num_classes too, since only soft labels can be smoothed")
        if names is not None and (names not in NAMES or as_dict or elements is not None):
            known = ", ".join(f'"{name}"' for name in NAMES)
            raise SettingsError(f"names={names!r}: give one of {known}, and neither as_dict nor elements")
        asked = None if elements is None else names_of(elements)
        return TorchLoader(
            self, copy=copy, device=device, as_dict=as_dict, elements=asked, soft_labels=soft, names=names
        )

    def __repr__(self) -> str:
        source = self._source.url if isinstance(self._source, Source) else self._source
        if isinstance(source, (list, tuple)) and source:
            source = source[0] if len(source) == 1 else f"{source[0]} and {len(source) - 1} more"
        source = source if isinstance(source, (str, os.PathLike)) else type(source).__name__
        return f"<forebay.Loader of {str(source)!r} batch_size={self.batch_size} batches={len(self)}>"

    def _draw(self, timeout: float | None = None) -> tuple[int, Batch | None]:
        return self._feed.draw(timeout)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Loader is bound to the process that made it, so it can be neither pickled nor copied. Make a Loader in "
            "each process, and move its progress with state_dict() and load_state_dict()"
        )


def _functions(given: dict[str, Any]) -> tuple[dict[str, Any], CalledHere | None]:
    """The arguments with names for the functions of lists, and what calls these here, if this is to be."""
    has_lists = given.get("transform") is not None or given.get("views") is not None
    return called_here(given) if given.get("python_workers") == 0 and has_lists else (given, None)
