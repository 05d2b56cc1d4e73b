"""What Accelerate wants to know of a DataLoader: that it iterates, which batch is the last one, how schedulers step."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from forebay.errors import SettingsError
from forebay.step_form import form_of

__all__ = ["Watched", "refuse_fast_schedulers", "warn_of_copies"]

_FAST = (
    "Accelerate: a prepared scheduler takes {world} steps for each step of the optimizer, since it expects a loader "
    "whose len() counts the batches of all {world} processes. len() of this DataLoader counts those of one. Make the "
    "Accelerator with dataloader_config=DataLoaderConfiguration(split_batches=True), and give the scheduler as many "
    "steps as the optimizer takes; or with step_scheduler_with_optimizer=False"
)


_UNEVEN = (
    "Accelerate: gather_for_metrics() counts copies. {ranks} ranks cannot share {records} records evenly: "
    'the last batches repeat some. Evaluate with sharding="dynamic", or with batch.mask of Loader.torch()'
)
_OF_STEPS = (
    "Accelerate: gather_for_metrics() counts copies, and batches of {form} may have some. Evaluate with batch.mask of "
    "Loader.torch()"
)


class Watched:
    """An iteration that Accelerate's state knows of, if this process uses Accelerate.

    Args:
        loader: What iterates. Accelerate reads its attributes `end_of_dataloader` and `remainder`.
    """

    def __init__(self, loader: Any) -> None:  # noqa: ANN401 - a DataLoader, which imports this module
        self._loader = loader
        self._state = _gradient_state()
        if self._state is not None:
            # At most once, although an earlier iteration may have been left early.
            self._state._remove_dataloader(loader)
            self._state._add_dataloader(loader)

    def end(self, unseen: bool) -> None:
        """The iteration has ended; `unseen` if its last batch was not known to be the last one."""
        if self._state is None:
            return
        if unseen and self._state.num_steps > 1 and self._state.sync_with_dataloader:
            warnings.warn(
                "Accelerate: this epoch had fewer batches than len() says, because records were skipped or other "
                "trainers had some. So accumulate() has not seen its end: the gradients of its last batches count for "
                'the next epoch. on_error="replace" leaves all batches in their places',
                stacklevel=4,
            )
        self._state._remove_dataloader(self._loader)
        self._state = None

    def __del__(self) -> None:
        if self._state is not None and not sys.is_finalizing():
            self._state._remove_dataloader(self._loader)


def refuse_fast_schedulers() -> None:
    """Refuses schedulers that would be at another place than the steps of the optimizer.

    If Accelerate has a DataLoader of its own as well, a scheduler may be about that one.

    Raises:
        SettingsError: It says how to make them step at the right pace.
    """
    state, schedulers = sys.modules.get("accelerate.state"), sys.modules.get("accelerate.scheduler")
    if state is None or schedulers is None:
        return
    world = state.PartialState._shared_state.get("num_processes", 1)
    if world == 1:
        return
    others = sys.modules["accelerate.data_loader"].DataLoaderStateMixin
    fast = False
    # Accelerate lists its schedulers only in the Accelerator, which knows nothing of this DataLoader.
    for each in gc.get_objects():
        kind = type(each)
        if issubclass(kind, others):
            return
        if issubclass(kind, schedulers.AcceleratedScheduler):
            fast = fast or (each.step_with_optimizer and not each.split_batches)
    if fast:
        raise SettingsError(_FAST.format(world=world))


def warn_of_copies(settings: Mapping[str, Any], records: int, batch_size: int) -> None:
    """Warns if batches have copies, which Accelerate would count.

    Args:
        settings: All settings of the Loader.
        records: Records of the dataset.
        batch_size: Places of the batches of a rank.
    """
    ranks = settings.get("world_size") or settings.get("num_shards") or 1
    form = form_of(settings)
    if form is not None:
        warnings.warn(_OF_STEPS.format(form=form), stacklevel=3)
    elif settings.get("last_batch_policy") != "drop" and records % (batch_size * ranks) % ranks:
        warnings.warn(_UNEVEN.format(ranks=ranks, records=records), stacklevel=3)


def _gradient_state() -> Any | None:  # noqa: ANN401 - Accelerate may not be installed
    module = sys.modules.get("accelerate.state")
    if module is None or not module.GradientState._shared_state:
        return None
    return module.GradientState()
