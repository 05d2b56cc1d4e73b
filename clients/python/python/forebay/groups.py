"""Settings of a Loader that belong together.

Made by `make docs` from `forebay config --schema`; a test compares. Change the keys, not this file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Lockstep", "Shard", "Source", "Targets"]


class Source:
    """A source with an index, a root or options.

    Args:
        url: What a Loader takes as its source: a path, a URL, or a list of files. One of several sources of a Loader is
            a path or a URL.
        index: The index of the dataset, a file that `forebay index --output` wrote. It must fit the dataset. "none":
            the dataset is scanned each time. None: an index is written after a long scan, and used from then on.
            docs/sources.md explains indexes.
        root: The folder that relative paths of a CSV or list start from. None: the folder of the CSV or list. For a
            Python list, it is this process's working folder.
        **options: Options of the source, by their names. docs/sources.md lists them. All sources have `roles`:
            `roles={"boxes": "xywh"}` says that a column has boxes, which then follow their pictures.

    Example:
        >>> source = Source("csv:/data/train.csv", root="/data", limit=1000)
        >>> loader = forebay.Loader(source, batch_size=64, size=224)                            # doctest: +SKIP
    """

    __slots__ = ("index", "options", "root", "url")

    def __init__(
        self,
        url: str | os.PathLike[str] | Iterable[Any],
        *,
        index: str | None = None,
        root: str | os.PathLike[str] | None = None,
        **options: str | int | bool | Mapping[str, str],
    ) -> None:
        self.url = url
        self.index = index
        self.root = root
        self.options = options

    def __repr__(self) -> str:
        given = {name: value for name, value in (("index", self.index), ("root", self.root)) if value is not None}
        words = "".join(f", {name}={value!r}" for name, value in {**given, **self.options}.items())
        return f"Source({self.url!r}{words})"


@dataclass(frozen=True)
class Targets:
    """What a batch has beside the pictures: labels, columns, masks.

    Attributes:
        labels: "auto": labels are class folders, or a CSV's second column. "text": a CSV's labels are never numbers.
            "none": all are -1.
        columns: The columns of batches beside pictures and labels. A list names some of the dataset's columns, or parts
            of a record that become columns of the same names, such as the column "caption" of a table. A dict says
            which part of a record becomes which column: a member of an archive, a feature, a column of a table. None:
            all columns that the dataset has. docs/sources.md lists them. For a stream, a list names those that this
            trainer looks at.
        masks: Masks that become columns: names of columns, each with the folder of its masks (files with the names of
            the pictures), or with a column of the dataset that has their paths, or with the part of a record that has
            the mask: a member of a tar, a column of a table. See docs/sources.md, "Masks". None: no masks. Such a
            column is an array `(n, height, width)` of uint8, uint16 or int32, transformed like the pictures.
        mask_fill: The number of the pixels that a mask does not show, from 0 to 65535. None: the largest number of
            masks of 8 or 16 bits, 255 or 65535, and 0 of masks in colours.
        min_visible: The fraction of an object's box, from 0.0 to 1.0, that the transformed picture must show. If it
            shows less, the object is dropped from all its columns. An object is always dropped if nothing of its box is
            shown. Raise it if objects at the edge of a crop are too small to learn from.
        annotated: The picture to which the dataset's boxes and points refer: "seen" (with its EXIF orientation applied)
            or "stored" (without it). Set it to "stored" if the boxes were made by a program that ignores EXIF
            orientations.
        draw: Batches have the column "draw": 64 random bits for each record and epoch, for choices of the trainer's
            own, such as which captions it drops. They follow from the seed as transforms do, so a run that is resumed
            has the same.

    Example:
        >>> targets = Targets(columns=["boxes"], min_visible=0.2)
        >>> loader = forebay.Loader("coco:/data/train.json", batch_size=64, size=512, targets=targets)  # doctest: +SKIP
    """

    labels: str = "auto"
    columns: Sequence[str] | Mapping[str, str] | None = None
    masks: Mapping[str, str] | None = None
    mask_fill: int | None = None
    min_visible: float = 0.0
    annotated: str = "seen"
    draw: bool = False


@dataclass(frozen=True)
class Shard:
    """Each rank reads one of `num_shards` equal shards of the dataset. For ranks that wait for each other in each step.

    Attributes:
        shard_id: Which of `num_shards` equal shards of the dataset this trainer reads, from 0. Only a
            `forebay.torch.DataLoader` may leave it and `num_shards` out: it takes them from the job.
        num_shards: Splits the dataset into this many shards, one per trainer, as DDP needs it. None: a batch goes to
            any trainer that asks for one.
        stick_to_shard: With `num_shards`: each trainer reads the same shard in every epoch. Set it if you use a cache.
            Otherwise the shards rotate.
        pad_last_batch: With `num_shards`: all shards have the same number of batches. The last record is repeated for
            that. `batch.mask` is False for the copies.

    Example:
        >>> sharding = Shard(rank := 0, world := 8)
        >>> loader = forebay.Loader("/data/train", batch_size=32, size=224, sharding=sharding)  # doctest: +SKIP
    """

    shard_id: int | None = None
    num_shards: int | None = None
    stick_to_shard: bool = False
    pad_last_batch: bool = True


@dataclass(frozen=True)
class Lockstep:
    """All ranks of a training job read the same step, whatever their number: each its part.

    Attributes:
        global_batch: Required in lockstep. The number of records in a step of all ranks, a multiple of their number. A
            rank's batch is its part. A stream has it already.
        rank: Which rank of the job this process is, from 0. None: what `torch.distributed`, torchrun or SLURM say.
        world_size: The number of ranks. None: as for rank.

    Example:
        >>> sharding = Lockstep(global_batch=1024)
        >>> loader = forebay.Loader("/data/train", size=224, sharding=sharding)  # doctest: +SKIP
    """

    global_batch: int | None = None
    rank: int | None = None
    world_size: int | None = None
