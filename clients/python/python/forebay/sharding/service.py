"""The two services of ElasticDL's API, from a coordinator of this project."""

from __future__ import annotations

import os

from forebay.sharding.client import ShardingClient
from forebay.sharding.indices import IndexFeed
from forebay.sharding.shard import TRAINING

__all__ = ["DataShardService", "RecordIndexService"]

# The dataset of services that name none, as for ElasticDL's own client.
_TRAINING_DATA = "_EDL_DEFAULT_TRAINING_DATA"


class DataShardService(ShardingClient):
    """Gets shards with `fetch_shard()`, and counts records with `report_batch_done()`.

    It has the names of ElasticDL's `DataShardService`. Unlike ElasticDL's own client, which `forebay coordinate
    --elasticdl-listen` serves, it uses TLS and tokens, and sends heartbeats.

    Args:
        batch_size: Records of a batch.
        num_epochs: How often each record is read. Left out: another worker says it, and this one waits until it has.
        dataset_size: Records of the dataset, or a function that says how many, such as a reader's `get_training_size`.
        shuffle: Whether the order of records is random. `Shard.indices` then lists them.
        shuffle_shards: Whether the order of shards is random.
        task_type: What the tasks are for.
        num_minibatches_per_shard: Batches of a shard. 0: the coordinator chooses.
        dataset_name: Name of the dataset. All workers of a job give the same.
        worker: As for `ShardingClient`.
        **place: As for `ShardingClient`.
    """

    def __init__(
        self,
        batch_size: int,
        num_epochs: int | None = None,
        dataset_size: int | None = None,
        shuffle: bool = False,
        shuffle_shards: bool = False,
        task_type: int = TRAINING,
        num_minibatches_per_shard: int = 0,
        dataset_name: str | None = None,
        *,
        worker: str | None = None,
        **place: str | os.PathLike[str] | None,
    ) -> None:
        self._join(
            dataset_name or _TRAINING_DATA,
            batch_size,
            num_epochs,
            dataset_size() if callable(dataset_size) else dataset_size,
            shuffle,
            shuffle_shards and not shuffle,
            task_type,
            num_minibatches_per_shard,
            worker,
            place,
        )


class RecordIndexService(DataShardService):
    """A `DataShardService` that gives the numbers of single records, also to forked processes."""

    def __init__(
        self, *arguments: int | bool | str | None, **named: int | bool | str | os.PathLike[str] | None
    ) -> None:
        super().__init__(*arguments, **named)
        self._feed = IndexFeed(self.get_task, self._is_current)

    def fetch_record_index(self) -> int:
        """The next record, in this process or a forked child.

        Raises:
            StopIteration: The data has ended.
        """
        return self._feed.get()

    def _restore(self, checkpoint: str, load_id: str) -> None:
        with self._feed.restoring():
            super()._restore(checkpoint, load_id)
