"""Shards for code that reads its data itself, with the names that DLRover and ElasticDL use.

A coordinator (`forebay coordinate`) gives each shard to one worker. If the worker dies or gives no sign of life, the
shard goes to another one. The coordinator knows how many records a dataset has, and nothing else about it.

Example:
    >>> from forebay.sharding import ShardingClient                                         # doctest: +SKIP
    >>> client = ShardingClient("mnist", batch_size=64, num_epochs=2, dataset_size=60000)   # doctest: +SKIP
    >>> while shard := client.fetch_shard():                                                # doctest: +SKIP
    ...     for start in range(shard.start, shard.end, 64):
    ...         train(start, min(start + 64, shard.end))
    ...         client.report_batch_done(min(64, shard.end - start))
"""

from forebay.sharding.client import ShardingClient
from forebay.sharding.indices import IndexShardingClient
from forebay.sharding.sampler import ElasticDistributedSampler
from forebay.sharding.service import DataShardService, RecordIndexService
from forebay.sharding.shard import EVALUATION, PREDICTION, TRAINING, Shard, Task

__all__ = [
    "EVALUATION",
    "PREDICTION",
    "TRAINING",
    "DataShardService",
    "ElasticDistributedSampler",
    "IndexShardingClient",
    "RecordIndexService",
    "Shard",
    "ShardingClient",
    "Task",
]
