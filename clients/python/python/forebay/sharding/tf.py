"""Shards for TensorFlow. Nothing else of the package `forebay.sharding` needs TensorFlow.

Example:
    >>> from forebay.sharding import DataShardService                                       # doctest: +SKIP
    >>> import forebay.sharding.tf as shards                                                # doctest: +SKIP
    >>> service = DataShardService(64, num_epochs=2, dataset_size=reader.get_training_size) # doctest: +SKIP
    >>> train = shards.dataset(service, reader.read_records, signature).batch(64)           # doctest: +SKIP
    >>> model.fit(train, callbacks=[shards.ReportCallback(service)])                        # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from forebay.sharding.client import ShardingClient
from forebay.sharding.shard import Shard

__all__ = ["ReportCallback", "ReportHook", "dataset"]


def dataset(
    client: ShardingClient,
    read: Callable[[Shard], Iterable[Any]],
    output_signature: Any,  # noqa: ANN401 - any structure of `tf.TypeSpec`
) -> tf.data.Dataset:
    """The records of all shards that a client gets, over all epochs, as a function of yours reads them.

    TensorFlow may read records ahead. They are not counted by this: give a `ReportCallback` to `fit()`, or a
    `ReportHook` to a session.

    Args:
        client: A `ShardingClient` or `DataShardService`.
        read: Gives a shard's records, in the order of `shard.records`.
        output_signature: As for `tf.data.Dataset.from_generator`.
    """

    def records() -> Iterator[Any]:
        while (shard := client.fetch_shard()) is not None:
            yield from read(shard)

    return tf.data.Dataset.from_generator(records, output_signature=output_signature)


class ReportCallback(tf.keras.callbacks.Callback):
    """Reports a batch to the client after each step of `fit()`.

    Args:
        client: A `ShardingClient` or `DataShardService`. Its `batch_size` is that of the dataset's batches.
    """

    def __init__(self, client: ShardingClient) -> None:
        super().__init__()
        self._client = client

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ANN401, ARG002 - Keras's signature
        """Counts the records of a batch."""
        self._client.report_batch_done()


class ReportHook(tf.compat.v1.train.SessionRunHook):
    """Reports a batch to the client after each run of a session.

    Args:
        client: A `ShardingClient` or `DataShardService`. Its `batch_size` is that of the dataset's batches.
    """

    def __init__(self, client: ShardingClient) -> None:
        super().__init__()
        self._client = client

    def after_run(self, run_context: Any, run_values: Any) -> None:  # noqa: ANN401, ARG002 - TensorFlow's signature
        """Counts the records of a batch."""
        self._client.report_batch_done()
