"""Shards for PyTorch's `DataLoader`. Nothing else of the package `forebay.sharding` needs PyTorch.

Example:
    >>> from forebay.sharding import ShardingClient                                         # doctest: +SKIP
    >>> from forebay.sharding.torch import ShardSampler                                     # doctest: +SKIP
    >>> client = ShardingClient("mnist", batch_size=64, num_epochs=2, dataset_size=60000)   # doctest: +SKIP
    >>> batches = DataLoader(dataset, batch_size=64, sampler=ShardSampler(client), num_workers=8)   # doctest: +SKIP
    >>> for images, labels in batches:                                                      # doctest: +SKIP
    ...     step(images, labels)
    ...     client.report_batch_done(len(labels))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch.utils.data import IterableDataset, Sampler, get_worker_info

from forebay.errors import SettingsError
from forebay.sharding.client import ShardingClient
from forebay.sharding.shard import Shard

__all__ = ["ShardDataset", "ShardSampler"]


class ShardDataset(IterableDataset):
    """The records of all shards that a client gets, over all epochs, as a function of yours reads them.

    Call `report_batch_done(n)` of the client after each batch of n records. Give the `DataLoader` no workers: they
    would use the client in forked processes. For workers, use a `ShardSampler` and a dataset with `__getitem__`.

    Args:
        client: A `ShardingClient` or `DataShardService`.
        read: Gives a shard's records, in the order of `shard.records`.
    """

    def __init__(self, client: ShardingClient, read: Callable[[Shard], Iterable[Any]]) -> None:
        super().__init__()
        self._client = client
        self._read = read

    def __iter__(self) -> Iterator[Any]:
        if get_worker_info() is not None:
            raise SettingsError(
                "num_workers: a ShardDataset reads in the process that made its client; give num_workers=0, or a "
                "ShardSampler and a dataset with __getitem__, which may have any number of workers"
            )
        while (shard := self._client.fetch_shard()) is not None:
            yield from self._read(shard)


class ShardSampler(Sampler):
    """The numbers of the records of all shards that a client gets, over all epochs.

    Give it to a `DataLoader` as `sampler`, with any number of workers. The loader asks it in the process that made the
    client, and returns batches in the order of their records. So `report_batch_done(n)` of the client, after each batch
    of n records, counts exactly these.

    Args:
        client: A `ShardingClient` or `DataShardService`.
    """

    def __init__(self, client: ShardingClient) -> None:
        self._client = client

    def __iter__(self) -> Iterator[int]:
        while (shard := self._client.fetch_shard()) is not None:
            yield from shard.records
