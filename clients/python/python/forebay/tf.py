"""Batches as a `tf.data.Dataset`. Nothing else needs TensorFlow.

Example:
    >>> import forebay.tf                                                                   # doctest: +SKIP
    >>> train = forebay.tf.dataset("/data/train", batch_size=256, size=224, shuffle=True)   # doctest: +SKIP
    >>> model.fit(train, epochs=90)                                                         # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from forebay.aligned import aligned_copy
from forebay.column_names import names_of
from forebay.dtype import BFLOAT16_BITS
from forebay.elements import opened, packed
from forebay.groups import Shard
from forebay.ragged import Ragged

if TYPE_CHECKING:
    from forebay.batch import Batch
    from forebay.loader import Loader
    from forebay.settings import AnySource

__all__ = ["dataset"]

_TYPES = {"labels": np.dtype(np.int64), "records": np.dtype(np.int64), "mask": np.dtype(bool)}


def dataset(
    source: AnySource | Loader,
    *,
    elements: Sequence[str] = ("images", "labels"),
    as_dict: bool = False,
    copy: bool = True,
    input_context: Any = None,  # noqa: ANN401 - a `tf.distribute.InputContext`
    **settings: Any,  # noqa: ANN401 - those of a Loader
) -> tf.data.Dataset:
    """A dataset whose elements are batches. One iteration over it is one epoch.

    The shapes are static. Only the number of places is unknown, if the last batch of an epoch may be smaller: give
    `last_batch_policy="drop"` or `"fill"` for a number. With `buckets` or `patches`, places, height and width are
    unknown. A column with lists is a `tf.RaggedTensor`.

    A batch counts as consumed when TensorFlow draws the next one. TensorFlow may draw some batches ahead, for example
    in `prefetch()`; `state_dict()` of the Loader counts these as consumed. TensorFlow does not know the number of
    batches. If the Loader is the only trainer of its stream, `tf.data.experimental.assert_cardinality(len(loader))`
    tells it. Keras then does not ask for the end of an epoch, so its second epoch fails with `copy=False`.

    Args:
        source: A Loader, which you keep for `state_dict()`, `audit()` and `close()`; or what a Loader takes as its
            source. The dataset then keeps a Loader of its own.
        elements: Names of the columns of an element, in their order. `mask` is False where a place repeats a record:
            Keras takes `("images", "labels", "mask")` as inputs, targets and weights of samples.
        as_dict: True gives dicts. False gives tuples, or single tensors if there is one name.
        copy: True copies each batch once within the host, and any number of batches may be kept or drawn ahead. False
            gives tensors that are the ring's own memory, without a copy in the host. At most one earlier batch may then
            be kept when the next one is drawn, so that the dataset neither draws ahead itself nor takes `prefetch()`.
            Columns with lists are copied in any case.
        input_context: What `tf.distribute.Strategy.distribute_datasets_from_function` passes: each input pipeline then
            reads its own shard.
        **settings: Arguments of the Loader, such as `batch_size`, if `source` is not one.

    Raises:
        SettingsError: A setting is wrong, or there is no such column, or the pixels are in memory of a GPU.
        Error: Any other error of `forebay.Loader`.

    Example:
        >>> def shard(context):                                                             # doctest: +SKIP
        ...     return forebay.tf.dataset("/data/train", batch_size=64, size=224, input_context=context)
        >>> train = strategy.distribute_datasets_from_function(shard)                       # doctest: +SKIP
    """
    names = list(dict.fromkeys(names_of(elements)))
    asked = {**settings, **_shard(input_context)}
    return opened(source, asked, names, lambda loader: _made(loader, names, as_dict=as_dict, copy=copy), ragged=True)


def _made(loader: Loader, names: list[str], *, as_dict: bool, copy: bool) -> tf.data.Dataset:
    specs = _specs(loader)

    def pack(values: list[Any]) -> Any:  # noqa: ANN401 - an element
        return packed(names, values, as_dict=as_dict)

    def epoch() -> Iterator[Any]:
        for batch in loader:
            yield pack([_value(batch, name, specs[name], copy=copy) for name in names])

    made = tf.data.Dataset.from_generator(epoch, output_signature=pack([specs[name] for name in names]))
    options = tf.data.Options()
    # Shards are the Loader's: TensorFlow must not take some of the batches away.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    # Each batch that is drawn ahead keeps a slot of the ring, if it is no copy.
    options.experimental_optimization.inject_prefetch = copy
    return made.with_options(options)


def _shard(context: Any) -> dict[str, Shard]:  # noqa: ANN401 - as `dataset`
    if context is None or context.num_input_pipelines < 2:
        return {}
    return {"sharding": Shard(context.input_pipeline_id, context.num_input_pipelines)}


def _specs(loader: Loader) -> dict[str, tf.TypeSpec]:
    """What each column of a batch is, by its name."""
    ring = loader._feed.session.rings()[0]
    (most, *axes), images = ring.images
    # Such batches have all places, or are left out.
    is_full = loader._keys.get("last_batch_policy") in ("drop", "fill")
    places: int | None = most if is_full else None
    if loader._feed.form is not None:
        # Each step has its own height and width, and may have its own number of places. Channels are last or first.
        channels = 2 if axes[2] in (1, 3) else 0
        places, axes = None, [size if axis == channels else None for axis, size in enumerate(axes)]
    specs = {"images": tf.TensorSpec((places, *axes), _image_type(np.dtype(images)))}
    specs.update((name, tf.TensorSpec((places,), dtype)) for name, dtype in _TYPES.items())
    for name, typestr, levels, dims in ring.columns:
        dtype, shape = tf.as_dtype(np.dtype(typestr)), (places, *[None] * levels, *dims)
        # TensorFlow counts no levels in a tensor that has none.
        specs[name] = tf.RaggedTensorSpec(shape, dtype, levels, tf.int64) if levels else tf.TensorSpec(shape, dtype)
    return specs


def _image_type(dtype: np.dtype) -> tf.DType:
    return tf.bfloat16 if dtype == BFLOAT16_BITS else tf.as_dtype(dtype)


def _value(batch: Batch, name: str, spec: tf.TypeSpec, *, copy: bool) -> Any:  # noqa: ANN401 - as the spec says
    column = batch[name]
    if isinstance(column, Ragged):
        values, *splits = (np.array(part) for part in (column.values, *column.offsets))
        return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    array = aligned_copy(column) if copy else column
    return array.view(tf.bfloat16.as_numpy_dtype) if spec.dtype == tf.bfloat16 else array
