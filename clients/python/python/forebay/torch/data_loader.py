"""A DataLoader with the arguments of torch's, over batches that the daemon has made."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import torch

from forebay.errors import Error
from forebay.given_numbers import epoch_number
from forebay.loader import Loader
from forebay.torch.accelerated import refuse_fast_schedulers, warn_of_copies
from forebay.torch.asked import asked_columns
from forebay.torch.company import Company
from forebay.torch.dataset import source_of
from forebay.torch.iteration import Iteration
from forebay.torch.job import keys_of_caller, settings_of_state, step_of
from forebay.torch.options import Options
from forebay.torch.pinning import pinned
from forebay.torch.samplers import OwnBatchSampler, SamplerAttribute, own_sampler
from forebay.torch.seed import has_choices, seed_of_torch, tell
from forebay.torch.tensors import TorchBatch, TorchLoader
from forebay.torch.translation import is_daemons, translated

__all__ = ["DataLoader"]

_log = logging.getLogger("forebay")

# Settings that decide on the transforms, in place of the dataset's.
_TRANSFORMED = {"size", "transform", "recipe"}
# Who gives one of these has decided how ranks share the dataset.
_SHARED = ("global_batch", "num_shards", "shard_id", "world_size")
_NO_GPU = "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."


class DataLoader:
    """Batches `[images, labels]` of tensors, in place of `torch.utils.data.DataLoader`.

    Each `iter()` begins an epoch. If the epoch before it was left early, its other records count as abandoned. Random
    transforms and the order depend on the seed, and differ from torch's. In a job of several ranks, the DataLoader
    reads its rank's part of each step, and `len()` counts the batches of one rank; `sharding="dynamic"` reads
    everything in each rank.

    Args:
        dataset: An `ImageFolder` of torchvision with transforms that the daemon knows, a `Subset` of one, or what a
            `forebay.Loader` takes as its source, such as a folder or `stream:NAME`.
        batch_size: Records in a batch. For a stream, 1 is what the stream has.
        shuffle: True gives each epoch its own order.
        sampler: A `DistributedSampler`, whose rank, seed and shuffle are used; a `RandomSampler` or
            `SequentialSampler`. Others are refused.
        batch_sampler: Refused.
        num_workers: Decode threads; 0 uses all cores. There are no worker processes.
        collate_fn: Called with a list of `(image, label)` of each finished batch, as in torch. None gives the batch as
            the daemon has made it, which saves a copy.
        pin_memory: True copies batches, or what `collate_fn` makes, to page-locked memory. Without a GPU it warns,
            as torch does.
        drop_last: True leaves out an epoch's last batch if it is not full.
        timeout: Longest wait for a batch in seconds. 0 is without end.
        worker_init_fn: Refused.
        multiprocessing_context: Refused.
        generator: Its initial seed is the seed of the order and of the transforms, if there is no `seed`. Without both,
            it is `torch.initial_seed()`, which `torch.manual_seed()` sets, and several ranks take that of rank 0. The
            seed is told once. A `DistributedSampler` has its own seed. A state brings the seed that it was saved with.
        prefetch_factor: Batches that are ready, for each of `num_workers`.
        persistent_workers: The daemon lives from epoch to epoch in any case.
        pin_memory_device: As in torch, which ignores it.
        in_order: Batches are in the order of the epoch in any case.
        **settings: Further settings of a `forebay.Loader`, such as `size`, `recipe`, `seed` and `on_error`. `transform`
            may also be one of torchvision. `size`, `transform` and `recipe` take the place of the dataset's own. If you
            give `views`, `mixing`, `buckets`, a recipe with views, or columns, masks or draw in `targets`, a batch is a
            list of images, labels and these columns in their order. Pictures of an `ImageFolder` are not turned as EXIF
            says, as in torchvision, and those of any other source are; `adjust_orientation` decides otherwise.

    Attributes:
        dataset: As given.
        sampler: As given, or an object whose `set_epoch()` is this DataLoader's.
        batch_sampler: Has the length of this DataLoader. Its lists of indices are refused.
        loader: The `forebay.Loader`, for `audit()`, `quarantine` and the like.
        end_of_dataloader: Whether the batch in hand is the last one of its epoch.

    Raises:
        SettingsError: What cannot be honoured, with the way out.
        Error: Any other error of `forebay.Loader`.

    Example:
        >>> train = DataLoader(ImageFolder("/data/train", transform), batch_size=256, shuffle=True)     # doctest: +SKIP
        >>> for epoch in range(90):                                                                     # doctest: +SKIP
        ...     for images, labels in train:
        ...         step(images.cuda(non_blocking=True), labels)
    """

    sampler: Any = SamplerAttribute()

    def __init__(
        self,
        dataset: Any,  # noqa: ANN401 - of torchvision, or a source
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,  # noqa: ANN401 - as torch
        batch_sampler: Any = None,  # noqa: ANN401 - as torch
        num_workers: int = 0,
        collate_fn: Callable[[list[tuple[torch.Tensor, int]]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,  # noqa: ANN401 - as torch
        multiprocessing_context: Any = None,  # noqa: ANN401 - as torch
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",  # noqa: ARG002 - there is nothing to decide
        in_order: bool = True,  # noqa: ARG002 - the same
        **settings: Any,  # noqa: ANN401 - those of a Loader
    ) -> None:
        options = Options(
            batch_size=batch_size,
            shuffle=shuffle,
            sampler=sampler,
            batch_sampler=batch_sampler,
            num_workers=num_workers,
            drop_last=drop_last,
            worker_init_fn=worker_init_fn,
            multiprocessing_context=multiprocessing_context,
            generator=generator,
            prefetch_factor=prefetch_factor,
        )
        bare, settings = keys_of_caller(dataset, settings)
        if (given := settings.get("transform")) is not None and not is_daemons(given):
            # One of torchvision. Whether pictures are turned depends on the dataset.
            made = translated(given)
            del made["adjust_orientation"]
            settings = {**made, **settings, "transform": made["transform"]}
        source, found = source_of(bare, is_transformed=not _TRANSFORMED.isdisjoint(settings))
        is_stream = "socket" in settings or (isinstance(source, str) and source.startswith("stream:"))
        if not is_stream:
            found = {"layout": "NCHW", **found}
        asked, self._follows_state = options.settings(settings, is_stream=is_stream)
        self._asked = asked_columns(settings)
        # A state may bring another seed, unless the caller has decided.
        self._has_own_seed = is_stream or "seed" in asked
        self._seed_of: str | None = None
        if not self._has_own_seed and has_choices({**found, **asked}):
            seed = seed_of_torch(asked)
            if seed is not None:
                asked["seed"], self._seed_of = seed, "torch.initial_seed()"
        if pin_memory and not torch.cuda.is_available():
            warnings.warn(_NO_GPU, stacklevel=2)
            pin_memory = False
        self.dataset = dataset
        self._stream = str(source).removeprefix("stream:") if is_stream else None
        self.sampler = own_sampler(self, asked.get("shuffle")) if sampler is None else sampler
        self.batch_sampler = OwnBatchSampler(self)
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        # PyTorch's own DataLoader, which frameworks make of these attributes, refuses both without workers.
        self.persistent_workers = persistent_workers and num_workers > 0
        self.prefetch_factor = prefetch_factor if num_workers else None
        self.collate_fn = torch.utils.data.default_collate if collate_fn is None else collate_fn
        self._source = os.fspath(source) if isinstance(source, os.PathLike) else source
        self._open({**found, **asked})
        # Which part a rank reads was not the caller's decision.
        is_parted = max(asked.get("num_shards", 1), asked.get("world_size", 1)) > 1
        is_shared = not is_stream and sampler is None and is_parted and not any(name in settings for name in _SHARED)
        self._company = Company(self._settings, self.loader._feed.session.records) if is_shared else None
        # The last iteration, and the last one that was asked for a batch.
        self._iteration = self._read_iteration = 0
        self._is_left_early = False
        self._epoch: int | None = None
        # The sampler's epoch when it was last looked at. None after a state was loaded, which has the epoch.
        self._sampled_epoch: int | None = 0
        self._has_read = False
        # The epoch whose batches are counted, and how many of it are left. None if a state does not tell.
        self._counted: int | None = None
        self._left: int | None = None
        # Accelerate looks here: whether the batch in hand is the last one of its epoch.
        self.end_of_dataloader = False

    def _open(self, settings: dict[str, Any]) -> None:
        self.loader = Loader._of_keys(self._source, settings)
        self._settings = settings
        # A copy to page-locked memory is the only one, unless `collate_fn` makes something of the tensors first.
        is_own = self.collate_fn is not torch.utils.data.default_collate
        self._batches: TorchLoader[TorchBatch] = self.loader.torch(copy=is_own or not self.pin_memory)
        self.batch_size: int = self.loader._feed.session.rings()[0].images[0][0]

    def __iter__(self) -> Iterator[Any]:
        """The batches of the next epoch, or after `load_state_dict()` those that were left of the state's epoch."""
        refuse_fast_schedulers()
        tell(self.seed, self._seed_of)
        self._iteration += 1
        if self._is_left_early:
            self.loader.reset()
            self._end_epoch()
        self._follow_sampler()
        if self._company is not None:
            self._company.begin()
        return Iteration(self, self._iteration)

    def __len__(self) -> int:
        """Batches of an epoch. An upper bound if several trainers share a stream, or if sources have weights."""
        return len(self.loader)

    @property
    def epoch(self) -> int:
        """The epoch that this DataLoader is in, or that the next `iter()` begins."""
        if self._epoch is None:
            self._epoch = self.loader._feed.session.state()[0]
        return self._epoch

    @property
    def seed(self) -> int:
        """The seed of the order and of the random transforms. For a stream, the daemon's configuration has it."""
        return int(self._settings.get("seed", 0))

    @property
    def remainder(self) -> int:
        """Accelerate looks here for the records of the last step that count. 0: all do.

        Warns if batches have copies, because Accelerate would cut off the last places of the last step, and copies are
        in other ones.
        """
        warn_of_copies(self._settings, self.loader._feed.session.records, self.batch_size)
        return 0

    @property
    def class_to_idx(self) -> dict[str, int]:
        """Label of each class, by its name."""
        known = getattr(self.dataset, "class_to_idx", None)
        return dict(known) if known else {name: label for label, name in enumerate(self.loader.classes)}

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `iter()` begin this epoch, which has its own order. Does nothing if it would do so anyway.

        An iteration that has given no batch yet goes on in this epoch. One that has given some ends.

        Scripts call it in each epoch for the order; here it is only needed to begin at another epoch than 0 without a
        state. The audit does not list the epochs that were skipped.

        Raises:
            SettingsError: The epoch is negative, or no integer.
            Error: Other trainers are attached to the stream.
        """
        epoch = epoch_number(epoch)
        following = self.epoch + 1 if self._is_left_early else self.epoch
        if epoch != following:
            self.loader._feed.session.begin(epoch)
            # Lightning calls iter() before it says which epoch a resumed job is in.
            if self._read_iteration == self._iteration:
                self._iteration += 1
            self._is_left_early, self._epoch, self._counted = False, epoch, None

    def state_dict(self) -> dict[str, Any]:
        """The state of the run, as `Loader.state_dict()` gives it. Batches that were yielded count as consumed.

        It also has the seed, and says how many batches of the epoch are left. In a job of several ranks it has the
        records of a step, all ranks have the same state between two steps, and any of them is enough for a checkpoint.
        """
        state = self.loader.state_dict()
        left = self._left if state["epoch"] == self._counted else len(self)
        return {**state, "seed": self.seed, **({} if left is None else {"batches_left": left}), **self._step()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes the run back to a state: the next `iter()` yields what was not consumed then.

        Every rank of a job may load the state of one rank, whatever the number of ranks was. A step keeps its records,
        so with other numbers of ranks, `batch_size` changes. The log then says so. This does not hold if `sharding`
        or `run` was given, nor for a stream. The seed is that of the state, unless you gave `seed`, `generator` or a
        `DistributedSampler`. If the batch size or the seed changes, `loader` is another Loader afterwards.

        Raises:
            SettingsError: `state` is not a state, or it contradicts itself. Or its steps cannot be shared by so many
                ranks.
            Error: The state is of another dataset, order or seed.
        """
        settings = self._seeded(state)
        try:
            if settings == self._settings:
                self.loader.load_state_dict(state)
            else:
                self._reopen(settings, state)
        except Error as refused:
            # Only what the ledger says of a state. An outage, for example, is a class of its own.
            other = settings_of_state(settings, state) if type(refused) is Error and self._follows_state else None
            if other is None:
                raise
            try:
                self._reopen(other, state)
            except Error:
                raise refused from None
        self._iteration += 1
        self._is_left_early, self._epoch, self._sampled_epoch = False, None, None
        left = state.get("batches_left") if self._step().items() <= state.items() else None
        self._counted, self._left = state["epoch"], left if isinstance(left, int) else None

    def close(self) -> None:
        """Detaches from the daemon. Tensors stay valid."""
        self.loader.close()

    def __repr__(self) -> str:
        what = type(self.dataset).__name__ if hasattr(self.dataset, "samples") else repr(self.dataset)
        return f"<forebay.torch.DataLoader of {what:.60} batch_size={self.batch_size} batches={len(self)}>"

    def _next(self, iteration: int) -> Any:  # noqa: ANN401 - what `collate_fn` makes
        """The next batch of an iteration, as long as no other one has begun."""
        if iteration != self._iteration:
            raise Error(
                "a newer iter(), set_epoch() or load_state_dict() of this DataLoader has ended this iteration; make "
                "one DataLoader for each iteration that lives at the same time"
            )
        self._read_iteration = iteration
        batch = self._batches.next(self.timeout or None)
        self._has_read = True
        if batch is None:
            self._end_epoch()
            if self._company is not None:
                self._company.end()
            raise StopIteration
        self._epoch, self._is_left_early = batch.epoch, True
        if batch.epoch != self._counted:
            self._counted, self._left = batch.epoch, len(self)
        if self._left is not None:
            self._left -= 1
        self.end_of_dataloader = self._left == 0
        return self._made(batch)

    def _step(self) -> dict[str, int]:
        return step_of(self._settings, self.batch_size)

    def _seeded(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The settings with the seed of a state. States of earlier versions have none, and were of seed 0."""
        seed = state.get("seed", 0) if isinstance(state, Mapping) else None
        if self._has_own_seed or not isinstance(seed, int) or seed == self.seed:
            return self._settings
        return {**self._settings, "seed": seed}

    def _reopen(self, settings: dict[str, Any], state: Mapping[str, Any]) -> None:
        """Loads a state with other settings, which it needs. If it is refused, everything is as before."""
        former = (self.loader, self._settings, self._batches, self.batch_size)
        seed = self.seed
        self._open(settings)
        try:
            self.loader.load_state_dict(state)
        except BaseException:
            self.loader.close()
            self.loader, self._settings, self._batches, self.batch_size = former
            raise
        former[0].close()
        if self.seed != seed:
            self._seed_of = "the state"
        if self.batch_size != former[3]:
            ranks = settings.get("world_size", 1)
            _log.warning(
                "the state is of a job whose steps have %d records. They stay so, so each of %d ranks reads %d of them "
                "and not batch_size=%d",
                settings["global_batch"],
                ranks,
                self.batch_size,
                former[3],
            )

    def _follow_sampler(self) -> None:
        """Goes to the sampler's epoch if it is not the following one: scripts tell the sampler, and not the DataLoader.

        A script that looks at a batch before its first epoch is one epoch ahead of its count, and stays so. To go back
        by one would give it an epoch twice.
        """
        sampled = getattr(self.sampler, "epoch", None)
        if sampled is None or sampled == self._sampled_epoch:
            return
        goes_on = self._sampled_epoch is None or (self._has_read and sampled == self._sampled_epoch + 1)
        if not goes_on:
            self.set_epoch(sampled)
        self._sampled_epoch, self._has_read = sampled, False

    def _end_epoch(self) -> None:
        self._is_left_early, self._counted = False, None
        self._epoch = None if self._epoch is None else self._epoch + 1

    def _made(self, batch: TorchBatch) -> Any:  # noqa: ANN401 - what `collate_fn` makes
        images, labels, columns = batch.images, batch.labels, [batch[name] for name in self._asked]
        is_own = self.collate_fn is not torch.utils.data.default_collate
        made = self.collate_fn(list(zip(images, labels.tolist(), *columns))) if is_own else [images, labels, *columns]
        return pinned(made) if self.pin_memory else made
