"""Batches as arrays of JAX, on one device or spread over several. Nothing else needs JAX.

Example:
    >>> import forebay.jax                                                                  # doctest: +SKIP
    >>> train = forebay.jax.batches("/data/train", batch_size=256, size=224, shuffle=True)  # doctest: +SKIP
    >>> for images, labels in train:                                                        # doctest: +SKIP
    ...     state = step(state, images, labels)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from forebay.aligned import aligned_copy
from forebay.column_names import names_of
from forebay.converted import Converted
from forebay.elements import opened, packed
from forebay.errors import SettingsError, SlotsHeld
from forebay.ragged import Lists, Ragged
from forebay.step_form import budget_of, form_of

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.loader import Loader
    from forebay.settings import AnySource

__all__ = ["JaxLoader", "JaxRagged", "batches", "data_sharding"]

_FULL = ("drop", "fill")


@jax.tree_util.register_pytree_node_class
class JaxRagged(Lists[jax.Array]):
    """A column with a list for each place, as arrays of JAX. It is used as `forebay.Ragged` is.

    It is a pytree of `values` and `offsets`, so that it may be an argument of a compiled function. Use these two there:
    the length of a place is known only when the function runs. JAX compiles again for each new number of rows.

    Attributes:
        values: The rows of all lists, one after the other: `(rows, ...)`.
        offsets: For each level, `(lists + 1,)` of integers, beginning with 0.
    """

    __slots__ = ()

    def tree_flatten(self) -> tuple[tuple[jax.Array, tuple[jax.Array, ...]], None]:
        """The parts, for JAX."""
        return (self.values, self.offsets), None

    @classmethod
    def tree_unflatten(cls, _: None, parts: tuple[jax.Array, tuple[jax.Array, ...]]) -> JaxRagged:
        """A column of such parts, for JAX."""
        return cls._whole(*parts)


class JaxLoader(Converted[Any]):
    """A Loader that gives tuples or dicts of `jax.Array`.

    Everything else is the same as in the Loader, with which it shares its session.

    Attributes:
        loader: The Loader.
    """

    def __init__(self, loader: Loader, conversion: _Conversion) -> None:
        super().__init__(loader, conversion)
        self._lends = not conversion.copy

    def _draw(self, timeout: float | None = None) -> tuple[int, Any]:
        if not self._lends:
            return super()._draw(timeout)
        # JAX lets go of the memory of arrays that are gone only when it is called again. Any call will do.
        jax.device_put(0)
        try:
            return super()._draw(timeout)
        except SlotsHeld as error:
            raise SlotsHeld(
                "JAX still uses the memory of so many batches that there is no slot left. Drop the arrays of earlier "
                "batches, and call jax.block_until_ready() on what was computed of them before you draw the next one. "
                "Or set copy=True"
            ) from error


def data_sharding(devices: Sequence[Any] | None = None) -> jax.sharding.NamedSharding:
    """A sharding that gives each device an equal part of the places of a batch. Its axis is named "batch".

    Args:
        devices: The devices in their order. None is all of this process.

    Example:
        >>> train = forebay.jax.batches("/data/train", batch_size=256, size=224, last_batch_policy="drop",
        ...                             sharding=forebay.jax.data_sharding())               # doctest: +SKIP
    """
    mesh = jax.sharding.Mesh(np.array(jax.local_devices() if devices is None else devices), ("batch",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))


def batches(
    source: AnySource | Loader,
    *,
    elements: Sequence[str] = ("images", "labels"),
    as_dict: bool = False,
    sharding: Any = None,  # noqa: ANN401 - a device or a sharding of JAX
    copy: bool = True,
    **settings: Any,  # noqa: ANN401 - those of a Loader
) -> JaxLoader:
    """A loader whose batches are arrays of JAX. One `for` over it is one epoch, as with a Loader.

    Unless `jax_enable_x64` is set, JAX has no integers of 64 bits: labels and records are then int32. With `buckets` or
    `patches`, JAX compiles a function once for each shape.

    Args:
        source: A Loader, or what a Loader takes as its source.
        elements: Names of the columns of a batch, in their order. A column with a list for each record is a
            `JaxRagged`. With a sharding of several devices, such columns are refused.
        as_dict: True gives dicts. False gives tuples, or single arrays if there is one name.
        sharding: Where the arrays are: a device, or a sharding such as `data_sharding()`. If it spans devices of other
            processes, each process gives its own part of a global batch. None is JAX's default device.
        copy: True copies each batch once in the host, and you may keep any number of batches. False gives JAX the
            ring's own memory; JAX may then use at most one earlier batch when the next is drawn.
        **settings: Arguments of the Loader, such as `batch_size`, if `source` is not one. In a job of several
            processes, make the Loader yourself, with `sharding=forebay.Shard(...)`.

    Raises:
        SettingsError: A setting is wrong, or there is no such column, or the devices cannot have equal parts, or the
            pixels are in memory of a GPU.
        SlotsHeld: With `copy=False`, JAX still uses two batches when the next is drawn.
        Error: Any other error of `forebay.Loader`.
    """
    names = names_of(elements)
    if sharding is not None and not isinstance(sharding, (jax.Device, jax.sharding.Sharding)):
        raise SettingsError(
            f"sharding={sharding!r}: give a device or a jax.sharding.Sharding, such as forebay.jax.data_sharding()"
        )

    def use(loader: Loader) -> JaxLoader:
        if isinstance(sharding, jax.sharding.Sharding):
            _refuse_unequal(loader, sharding, loader._feed.session.rings()[0].images[0])
        return JaxLoader(loader, _Conversion(names, sharding, as_dict=as_dict, copy=copy))

    # Several devices cannot have equal parts of lists.
    return opened(source, settings, names, use, ragged=not isinstance(sharding, jax.sharding.Sharding))


def _refuse_unequal(loader: Loader, sharding: jax.sharding.Sharding, images: Sequence[int]) -> None:
    """Refuses batches that the devices cannot share in equal parts."""
    if loader._feed.form is not None:
        _refuse_unequal_steps(loader, len(sharding.addressable_devices))
    if sharding.is_fully_addressable:
        try:
            (part, *_) = sharding.shard_shape(tuple(images))
        except ValueError as error:
            raise SettingsError(f"batch_size={images[0]} does not fit the sharding: {error}") from None
        if part == images[0]:
            return
    elif loader._keys.get("pad_last_batch") is False:
        raise SettingsError(
            "pad_last_batch=False: shards may then have different numbers of batches, and a process would wait for the "
            "others for ever. Leave it out of the Shard"
        )
    # Steps of buckets or patches are always full.
    if loader._feed.form is None and loader._keys.get("last_batch_policy") not in _FULL:
        raise SettingsError(
            'last_batch_policy: a last batch with fewer places has no equal parts for several devices: give "drop" or '
            '"fill"'
        )


def _refuse_unequal_steps(loader: Loader, devices: int) -> None:
    """Refuses batches whose number of places differs from step to step, so that some do not fit the devices."""
    form, budget = form_of(loader._keys), budget_of(loader._keys)
    if form is None or budget is None:
        return
    needed = devices * (loader._keys.get("world_size") or 1)
    if (loader._keys[form].get("divisor") or 1) % needed:
        raise SettingsError(
            f"{form}: with {budget}, the number of pictures differs from batch to batch, and {needed} devices cannot "
            f"always have equal parts: give divisor = {needed} or a multiple of it"
        )


class _Conversion:
    """The conversion of a batch. The arguments are those of `batches`."""

    def __init__(self, elements: list[str], sharding: Any, *, as_dict: bool, copy: bool) -> None:  # noqa: ANN401
        self._elements = elements
        self._sharding = sharding
        self._as_dict = as_dict
        is_local = not isinstance(sharding, jax.sharding.Sharding) or sharding.is_fully_addressable
        self._put = self._local if is_local else self._part
        self.copy = copy

    def __call__(self, batch: Batch) -> Any:  # noqa: ANN401 - a tuple, a dict or an array
        bits = batch.dtype == "bfloat16"
        values = [self._column(batch[name], bits=bits and name == "images") for name in self._elements]
        return packed(self._elements, values, as_dict=self._as_dict)

    def _column(self, column: Any, *, bits: bool) -> jax.Array | JaxRagged:  # noqa: ANN401 - of a batch
        if not isinstance(column, Ragged):
            return self._converted(np.asarray(column), bits=bits)
        values, *offsets = (self._converted(part, bits=False) for part in (column.values, *column.offsets))
        return JaxRagged._whole(values, tuple(offsets))

    def _converted(self, array: np.ndarray, *, bits: bool) -> jax.Array:
        if self.copy:
            array = aligned_copy(array)
        # JAX keeps the array as long as a device reads it.
        return self._put(array.view(jax.numpy.bfloat16.dtype) if bits else array)

    def _local(self, array: np.ndarray) -> jax.Array:
        return jax.device_put(array, self._sharding)

    def _part(self, array: np.ndarray) -> jax.Array:
        return jax.make_array_from_process_local_data(self._sharding, array)
