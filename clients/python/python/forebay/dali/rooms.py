"""What the iterators give: tensors where PyTorch is installed, and arrays otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.errors import SettingsError
from forebay.frameworks import FRAMEWORKS

if TYPE_CHECKING:
    from forebay.dali.samples import Rooms

__all__ = ["rooms_for"]


class _ArrayRooms:
    """Makes room for arrays of numpy."""

    def room(self, shape: tuple[int, ...], dtype: np.dtype) -> _ArrayRoom:
        return _ArrayRoom(shape, dtype)


class _ArrayRoom:
    """An array, which the user gets as it is."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.array = np.empty(shape, dtype)

    def made(self) -> np.ndarray:
        return self.array


def rooms_for(device_id: int | None, *, as_numpy: bool) -> Rooms:
    """Where the batches of a pipeline are put together.

    Args:
        device_id: The GPU on which the tensors will be; None for the host.
        as_numpy: Whether the caller wants arrays, whatever is installed.

    Raises:
        SettingsError: Arrays cannot be in a GPU, or PyTorch sees none.
    """
    if not as_numpy:
        try:
            from forebay.torch.rooms import TensorRooms
        except ModuleNotFoundError as error:
            # PyTorch may be installed, and lack something itself.
            if error.name not in {framework.name for framework in FRAMEWORKS}:
                raise
        else:
            return TensorRooms(device_id)
    if device_id is not None:
        raise SettingsError(
            f"device_id={device_id}: numpy's arrays are in the host. Leave device_id out, or install PyTorch and leave "
            "as_numpy out"
        )
    return _ArrayRooms()
