"""A sampler for map-style datasets whose ranks may change in number. It needs no coordinator, and no framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from typing import Any

from forebay import frameworks
from forebay._native import shuffled
from forebay.errors import SettingsError
from forebay.given_numbers import epoch_number

__all__ = ["ElasticDistributedSampler"]

# Positions that are looked up at once.
_CHUNK = 1024


class ElasticDistributedSampler:
    """Deals the records of a dataset to the ranks of a job, whose number may change in the middle of an epoch.

    The order of an epoch follows from `seed` and the epoch alone, and is looked up position by position. So nothing
    grows with the dataset. A state is one number: how many records all ranks have consumed since the beginning. Any
    number of ranks goes on from it.

    Use it as the `sampler` of a `torch.utils.data.DataLoader`.

    Args:
        dataset: The dataset; only its length counts.
        num_replicas: How many ranks. Left out: as `torch.distributed` says, or 1.
        rank: This rank. Left out: as `torch.distributed` says, or 0.
        shuffle: Whether the order is random.
        seed: Of the order. Equal on all ranks.
        drop_last: At the end of an epoch, True leaves out the records that do not go round. False repeats the last
            ones, so that all ranks have equally many.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        found_rank, found_replicas, _ = frameworks.ranks() or (0, 1, "")
        self.dataset = dataset
        self.num_replicas = found_replicas if num_replicas is None else num_replicas
        self.rank = found_rank if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise SettingsError(
                f"rank={self.rank}: with {self.num_replicas} ranks, it must be from 0 to one below that"
            )
        if len(dataset) == 0:
            raise SettingsError("dataset: it has no records")
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0
        # Records of this epoch that all ranks together have consumed before this sampler began.
        self.completed_num = 0

    def __len__(self) -> int:
        """Records that this rank still gets in this epoch."""
        left = len(self.dataset) - self.completed_num
        return left // self.num_replicas if self.drop_last else -(-left // self.num_replicas)

    def __iter__(self) -> Iterator[int]:
        total, each = len(self.dataset), len(self)
        first = self.completed_num + self.rank
        for done in range(0, each, _CHUNK):
            yield from self._records(first, done, min(_CHUNK, each - done), total)

    def _records(self, first: int, done: int, count: int, total: int) -> list[int]:
        """The records of this rank from its position `done` on, `count` of them."""
        places = range(first + done * self.num_replicas, first + (done + count) * self.num_replicas, self.num_replicas)
        own = [place for place in places if place < total]
        found = self._order(own) if own else []
        # The last round of an epoch may not go round.
        copies = count - len(own)
        return found + self._order([total - 1]) * copies

    def _order(self, places: list[int]) -> list[int]:
        if not self.shuffle:
            return places
        step = places[1] - places[0] if len(places) > 1 else 1
        return shuffled(len(self.dataset), self.seed, self.epoch, places[0], step, len(places))

    def set_epoch(self, epoch: int) -> None:
        """Begins an epoch. Call it before each one, as for PyTorch's `DistributedSampler`.

        If the sampler has just loaded a state of this epoch, it goes on in the middle of it.

        Raises:
            SettingsError: The epoch is no integer, is negative, or is above 2**63 - 1.
        """
        epoch = epoch_number(epoch)
        if epoch != self.epoch:
            self.completed_num = 0
        self.epoch = epoch

    def state_dict(self, iter_step: int, micro_batch_size: int) -> dict[str, int]:
        """The state after so many steps.

        Args:
            iter_step: Steps that this sampler's batches were used for in this epoch, counted from where it began: from
                the epoch's beginning, or from the state that was loaded.
            micro_batch_size: Records of a step on one rank.
        """
        completed = self.completed_num + iter_step * micro_batch_size * self.num_replicas
        return {"consumed": self.epoch * len(self.dataset) + min(completed, len(self.dataset))}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state, whatever the number of ranks was.

        Raises:
            SettingsError: It is no state of such a sampler.
        """
        consumed = state.get("consumed")
        if not isinstance(consumed, int) or consumed < 0:
            raise SettingsError("this is no state of an ElasticDistributedSampler")
        self.epoch, self.completed_num = divmod(consumed, len(self.dataset))
