"""A folder of pictures as a map-style dataset, which a DataLoader of PyTorch or any other code can index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Union

from forebay import image
from forebay.errors import DatasetError
from forebay.given_numbers import epoch_number
from forebay.shared_epoch import SharedEpoch
from forebay.transforms import Compose, Transform
from forebay.transforms.in_process import BYTE_LIMIT

__all__ = ["ImageFolder", "pictures"]

Steps = Union[Compose, Transform, Sequence[Transform], Callable[[Any], Any]]

# What the daemon takes for a picture. The content then decides how it is decoded.
_EXTENSIONS = "jpg jpeg jpe jfif png webp bmp gif tif tiff ppm pgm pbm pnm jxl avif"
_ENDINGS = frozenset(_EXTENSIONS.encode().split())
_WHOLE = Compose([])


class ImageFolder:
    """All pictures below a folder, whose top-level folders are the classes. No daemon runs.

    Records have the numbers that a Loader gives them: pictures are in the order of their paths' bytes, and hidden files
    are left out. It can be pickled, and used in forked and spawned processes.

    Args:
        root: The folder.
        transform: What is done with each picture: steps of `forebay.transforms`, or any function of a `uint8` array of
            height x width x 3. Steps decode only what they need of a file. Without it, whole pictures are given.
        seed: If given, random steps depend on the seed, the epoch and the record's number alone, as in a Loader. Call
            `set_epoch()` then. If not, they differ each time, as a step's own calls do.

    Attributes:
        classes: Names of the classes, sorted. Empty if no picture is in a class folder.
        class_to_idx: Number of each class.
        samples: Path and class of each picture. The class is -1 if there are no classes.

    Raises:
        DatasetError: The folder has no pictures, an empty class, or pictures beside class folders.
        OSError: A folder cannot be read.
    """

    def __init__(
        self, root: str | os.PathLike[str], transform: Steps | None = None, *, seed: int | None = None
    ) -> None:
        self.root = os.fspath(root)
        steps = [transform] if isinstance(transform, Transform) else transform
        if steps is None or isinstance(steps, (list, tuple)):
            steps = Compose(steps or [])
        self.transform: Compose | Callable[[Any], Any] = steps
        self.seed = seed
        self._epoch = SharedEpoch()
        paths = sorted(pictures(os.fsencode(self.root)))
        self.classes, labels = _classes(self.root, paths)
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = [(os.path.join(self.root, os.fsdecode(path)), label) for path, label in zip(paths, labels)]

    @property
    def epoch(self) -> int:
        """The epoch that random steps depend on if there is a `seed`."""
        return self._epoch.number

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, which random steps depend on if there is a `seed`.

        Call it before each epoch. Workers of a DataLoader notice it too, also with `persistent_workers=True`. The
        `set_epoch()` of a sampler does not reach the dataset.

        Raises:
            SettingsError: The epoch is no integer, is negative, or is above 2**63 - 1.
        """
        self._epoch.set(epoch_number(epoch))

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        """The transformed picture, and the number of its class.

        Raises:
            PictureError: The picture cannot be decoded. The message names the file.
        """
        path, label = self.samples[index]
        given, name = image.read(path, BYTE_LIMIT)
        if not isinstance(self.transform, Compose):
            return self.transform(_WHOLE(given, name=name)), label
        record = index % len(self.samples)
        if self.seed is not None:
            self._epoch.count(len(self.samples), self)
        return self.transform(given, seed=self.seed, epoch=self.epoch, record=record, name=name), label

    def __repr__(self) -> str:
        return f"ImageFolder({self.root!r}): {len(self.samples)} pictures, {len(self.classes)} classes"


def pictures(root: bytes, prefix: bytes = b"", above: tuple[tuple[int, int], ...] = ()) -> Iterator[bytes]:
    """Paths below a folder, from there, in no order. Symbolic links are followed, but not in circles."""
    folder = os.path.join(root, prefix)
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:
        raise DatasetError(f"{os.fsdecode(folder)}: a symbolic link leads back to this folder. Remove the link.")
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(b"."):
                continue
            if entry.is_dir():
                yield from pictures(root, prefix + entry.name + b"/", (*above, here))
            elif entry.name.rpartition(b".")[2].lower() in _ENDINGS and b"." in entry.name:
                yield prefix + entry.name


def _classes(root: str, paths: list[bytes]) -> tuple[list[str], list[int]]:
    """Names of the classes, and the class of each picture."""
    if not paths:
        raise DatasetError(f"{root}: there are no pictures ({_EXTENSIONS.replace(' ', ', ')})")
    tops = [path.partition(b"/")[0] if b"/" in path else None for path in paths]
    if all(top is None for top in tops):
        return [], [-1] * len(paths)
    with os.scandir(os.fsencode(root)) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(b"."))
    beside = next((path for path, top in zip(paths, tops) if top is None), None)
    if beside is not None:
        raise DatasetError(f"{os.path.join(root, os.fsdecode(beside))}: this picture is beside class folders. Move it.")
    empty = next((name for name in names if name not in set(tops)), None)
    if empty is not None:
        raise DatasetError(f"{os.path.join(root, os.fsdecode(empty))}: this class has no pictures. Remove the folder.")
    numbers = {name: number for number, name in enumerate(names)}
    return [name.decode(errors="replace") for name in names], [numbers[top] for top in tops if top is not None]
