"""What a dataset of PyTorch is to the daemon: a list of files with labels, and the transform of its pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from forebay.errors import SettingsError
from forebay.torch.translation import translated

__all__ = ["source_of"]

_WAYS_OUT = (
    "Give a torchvision.datasets.ImageFolder, a list of (path, label), a folder, or another source of "
    "docs/sources.md; `python:` reads records with a class of your own"
)


def source_of(dataset: Any, *, is_transformed: bool) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - as given
    """The source of a Loader, and the settings that follow from the dataset.

    Args:
        dataset: An `ImageFolder` or `DatasetFolder` of torchvision, a `Subset` of one, or what a Loader takes.
        is_transformed: Whether the caller has given other transforms than those of the dataset.

    Raises:
        SettingsError: The dataset reads or changes its samples with Python code.
    """
    if isinstance(dataset, (str, os.PathLike, list, tuple, Mapping)):
        return dataset, {}
    chosen = None
    whole = dataset
    # A `Subset`, or a `Subset` of one.
    while hasattr(whole, "indices") and hasattr(whole, "dataset"):
        indices = [int(index) for index in whole.indices]
        chosen = indices if chosen is None else [indices[index] for index in chosen]
        whole = whole.dataset
    _refuse_own_code(whole)
    samples = whole.samples if chosen is None else [whole.samples[index] for index in chosen]
    if is_transformed:
        # Its own pictures are as they are stored, whichever transforms they get.
        return samples, {"adjust_orientation": False}
    if whole.transform is None:
        raise SettingsError(
            "the dataset has no transform, and PyTorch makes batches of tensors only: give it one, or give size, "
            "transform or recipe"
        )
    return samples, translated(whole.transform)


def _refuse_own_code(dataset: Any) -> None:  # noqa: ANN401 - whatever the caller gave
    kind = type(dataset).__name__
    reader = next((cls for cls in type(dataset).__mro__ if "__getitem__" in vars(cls)), None)
    if reader is None or reader.__module__ != "torchvision.datasets.folder":
        raise SettingsError(
            f"{kind} reads its samples with Python code, which the daemon does not run, so it cannot be faster than "
            f"torch.utils.data.DataLoader. {_WAYS_OUT}"
        )
    loader = dataset.loader
    if (loader.__module__, loader.__name__) != ("torchvision.datasets.folder", "default_loader"):
        raise SettingsError(f"{kind} opens pictures with its own loader={loader.__name__}: leave it out. {_WAYS_OUT}")
    if dataset.target_transform is not None:
        raise SettingsError(
            f"{kind} changes its labels with target_transform: change them in your loop, or give a list of "
            "(path, label)"
        )
