"""The Loader: its settings, which its signature and its docstring list, and how it attaches."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Literal, NoReturn, TypeVar, cast, overload

from forebay import frameworks
from forebay._cuda.driver import NoDriverError
from forebay.attachment import attach
from forebay.batch import Batch
from forebay.batches import Batches
from forebay.column_names import names_of
from forebay.errors import GpuError, SettingsError
from forebay.foreign import refuse_foreign
from forebay.ranks import fill_in, refuse_unsharded
from forebay.settings import Source, request, socket_path

if TYPE_CHECKING:
    from forebay.torch.batch import TorchBatch
    from forebay.torch.tensors import TorchLoader
    from forebay.transforms import Transform

__all__ = ["Loader"]

_Init = TypeVar("_Init", bound=Callable[..., None])


def _remember_given(init: _Init) -> _Init:
    """Notes which settings the caller gave: a stream's settings must agree with those, and not with defaults."""

    @functools.wraps(init)
    def wrapper(self: Loader, source: Source, **given: Any) -> None:  # noqa: ANN401 - checked by `init`
        refuse_foreign(given)
        self._given = given
        init(self, source, **given)

    return cast(_Init, wrapper)


class Loader(Batches[Batch]):
    """Batches of decoded pictures.

    One `for` loop over a Loader is one epoch. Epochs belong to the stream: a `for` joins the stream's current epoch. If
    you leave a loop early, the next `for` continues in the same epoch.

    Args:
        source: A folder of pictures or of class folders, a `.csv` file, a `.txt` file with one path per line, or a list
            of files. The list may have (path, label) pairs, such as `ImageFolder.samples` of torchvision. Labels are
            int or str; str labels become classes. docs/sources.md lists all other sources, such as `tar:`, `parquet:`,
            and `python:` for your own class that reads records. `stream:NAME` is a stream of a running `forebay serve`.
            This process's own daemon reads everything but a stream. It starts with the first Loader that needs it, and
            ends with the last. A list of folders or of sources with a scheme, such as `["/data/a", "tar:/data/b.tar"]`,
            is one dataset of all of them. A dict from source to weight, such as `{"/data/a": 0.7, "/data/b": 0.3}`,
            gives each its share of every epoch.
        weights: The shares of the sources in an epoch, if `source` is a list of sources. None is each record once.
        repeats: How many times an epoch has each record, with other random choices each time. With weights, the epoch
            is that many times longer. The column `batch.repeats` tells the turns of a record apart.
        batch_size: Records in a batch. Required, except for a stream and with `assignment="lockstep"`.
        size: Side of the square images in pixels. With `shuffle` it means RandomResizedCrop and
            RandomHorizontalFlip, otherwise Resize and CenterCrop. Give `size`, `transform` or `recipe`, except for a
            stream.
        transform: A list of `forebay.transforms`, in place of `size`.
        recipe: The transforms of published training code, in place of `size`: a name, such as "torchvision_train", or a
            dict of the `name` and parameters, such as `{"name": "timm_train", "size": 192}`. docs/recipes.md lists the
            recipes. Some have further views. If a recipe normalises, `dtype` is "float32" unless you give it. None
            means that `size` or `transform` decides. `forebay.recipes` has the same as lists that you can change.
        views: Further views of each picture, such as `{"local": [transforms.RandomResizedCrop(96, scale=(0.05,
            0.32))]}`. Each becomes a column of its name. A view is a list of steps, or a dict with some of the settings
            `size`, `transform`, `match`, `dtype` and `layout`, which are otherwise those of the images. A picture is
            read and decoded once for all views, and each view has its own random choices. Not with `reducing_gap`. None
            is the images alone.
        mixing: Mixes each picture of a finished batch with the one before it: `transforms.MixUp`, `transforms.CutMix`,
            or a `transforms.RandomChoice` of them. Batches then also have the columns `mixed_labels`, the other
            picture's label, and `mix`, the weight of `labels`. `batch.soft_labels` and `loader.torch(num_classes=...)`
            make soft labels of them. None mixes nothing.
        mixing_per_batch: True mixes all pictures of a batch with the same weight, as torchvision does. Needs `mixing`.
        shuffle: True gives each epoch its own order. "shard" is for datasets that are read in grains, such as chunks or
            row groups: it shuffles grains, and the records within windows of grains. Each grain is then read once per
            epoch, if the source can keep the grains of a window.
        shuffle_window: The number of grains whose records `shuffle="shard"` shuffles together. More grains mix better.
        seed: Seed of the order and of the random transforms.
        epochs: Number of epochs. After the last one, a `for` yields nothing. None is without end.
        run: Name of a run that is kept on disk. A Loader with the same name continues it. None is a fresh run.
        assignment: How trainers share an epoch. "dynamic": each takes the next batch. "static": each reads one of
            `num_shards` shards. "lockstep": all ranks of a training job read the same step of `global_batch` records,
            whatever their number. None is "static" with `num_shards`, and "dynamic" without.
        global_batch: Records in a step of all ranks, a multiple of `world_size`. A rank's batch is its part. Required
            with `assignment="lockstep"`, except for a stream. None is no lockstep.
        rank: Which rank of the job this process is, from 0. None is what `torch.distributed`, torchrun or SLURM say.
            Only with `assignment="lockstep"`.
        world_size: Number of ranks. None as for `rank`.
        shard_id: Which of `num_shards` equal shards of the dataset this Loader reads, from 0.
        num_shards: Number of shards. Ranks that wait for each other need shards. None lets several trainers share one
            stream: each takes the next batch. If they are ranks, `num_shards=1` says that this is intended.
        stick_to_shard: True reads the same shard in every epoch. Otherwise the shards rotate. Needs `num_shards`.
        pad_last_batch: True gives all shards the same number of batches of the same sizes, by repeating the last
            record. `batch.mask` is False for the copies. Needs `num_shards`.
        mode: Who gets a batch. "split": one of the stream's trainers. "each": one trainer of each group. A Loader of a
            path has no other trainers, so set it in the daemon's configuration instead. For a stream, it must agree
            with that.
        group: The group that this trainer joins, in a stream with `mode="each"`. Trainers of one group share batches.
            None: this trainer is a group by itself.
        join: When a group begins that comes while the stream runs: "next" with the next batch, "epoch" with the next
            epoch.
        group_timeout: Seconds that batches wait for a named group whose trainers have all left, with `mode="each"`.
            None is 60 s.
        slow: What happens if a group makes the others wait, with `mode="each"`. "block": they wait. "evict": the group
            is ended, and its trainers get `Evicted`.
        evict_after: Seconds that a group may make others wait without consuming a batch, with `slow="evict"`. None is
            60 s.
        last_batch_policy: What happens if an epoch's last batch is not full. "partial" shows fewer places, "fill"
            repeats the last record, "drop" leaves the batch out.
        prefetch_queue_depth: Batches that are ready beyond those that trainers hold. None is 2.
        num_threads: Decode threads. None uses all usable cores, divided by `LOCAL_WORLD_SIZE`.
        decode_gpu: Number of the GPU that decodes, as the daemon counts GPUs. Set it to this process's own GPU if
            several processes share a machine. None is the GPU that has the pixels, or else all GPUs. Needs `lanes` of
            GPUs.
        lanes: Ways to decode, such as `["hardware", "cpu"]`. This machine must have all lanes of such a list. "auto" is
            NVIDIA's JPEG engines, if there are any, and the CPU. A GPU lane takes up to 2 GB of the GPU's memory, and
            some hundred MB for the driver. None is `["cpu"]`. This is a setting of the daemon: the first Loader of a
            process decides, and for a stream the daemon's configuration does.
        cache: What the daemon keeps in memory from the first epoch on, as far as it fits. `{"keep": "encoded",
            "memory": "20gb"}` keeps files, `{"keep": "decoded", "memory": "20gb"}` keeps decoded pictures. With
            "decoded", `"max_side": 512` shrinks larger pictures to that side before any transform; without it, no pixel
            changes. Loaders of one folder share the cache. None keeps nothing.
        placement: Where the pixels of batches are. "host" is shared memory. "gpu:0" is memory of that GPU, as the
            daemon counts GPUs. "auto" is a GPU that this process sees, first the one that PyTorch uses, or else the
            host. None is "host", and for a stream it is what the daemon's configuration says. If a stream is in a GPU,
            and PyTorch has not initialised CUDA yet, give `placement` anyway: the daemon learns of no GPU otherwise.
            All trainers that map memory of a GPU can write to it, so they must belong to one user. While a stream has
            trainers, it stays where the first of them had it. `loader.placement` says where that is.
        pin_memory: True calls `pin()` at once, and makes a ring that every driver can page-lock. Most drivers lock only
            memory that the process could write, so all trainers of the stream must belong to one user. The ring is
            locked for the GPU that PyTorch uses: call `torch.cuda.set_device` before. For a stream, the daemon's
            configuration needs it too. Without a CUDA driver it warns, as in PyTorch, and locks nothing.
        writable: True makes each batch a copy with its own arrays in the host, which you may keep and write to, as
            `Batch.copy()` does. False gives read-only views on the ring.
        dtype: "uint8", "float16", "bfloat16" or "float32", or a type of numpy or PyTorch with such a name. numpy has no
            bfloat16: see `Batch.images`.
        layout: "NHWC" or "NCHW".
        match: Which library's pixels a resize gives. "pillow" is equal to Pillow, to the byte. "torch" is within 1 of
            255 of torchvision with a uint8 tensor on a GPU and `antialias=True`, and has only bilinear and bicubic
            filters.
        adjust_orientation: True turns pictures as their EXIF orientation says. Pillow and torchvision leave them as
            they are stored.
        reducing_gap: Decodes large JPEGs at 1/2, 1/4 or 1/8 of their size, like Pillow's `Image.thumbnail`. Each side
            keeps at least this many times the pixels of its result. At least 1.0. None decodes at full size, which is
            exact. Not with a cache of decoded pictures.
        fast: True is short for `reducing_gap=2.0`.
        labels: "auto" takes class folders or the CSV's second column. "text" reads all labels of a CSV as names, even
            if they look like numbers. "none" gives -1 for every record.
        columns: The columns of batches besides images and labels. A list, such as `["boxes"]`, names some of the
            dataset's columns. A dict, such as `{"images": "jpg;png", "labels": "cls", "caption": "txt"}`, says which
            part of a record becomes which column: a member of an archive, a feature, a column of a table. None is all
            columns that the dataset has. See `Batch`.
        masks: Masks that become columns, such as `{"segmentation": "SegmentationClass"}`. Each key is the name of a
            column. Its value is the folder of the masks, which have the names of the pictures, or a column of the
            dataset with the paths of the masks, or the part of a record that has the mask: a member of a tar such as
            `"seg.png"`, a column of a table. A mask is a PNG file or an array of NumPy (`.npy`). The column is an array
            `(n, height, width)` of uint8, uint16 or int32. Masks are transformed like their pictures. None is no masks.
            See "Masks" in docs/sources.md.
        mask_fill: The number for pixels that the mask does not cover, from 0 to 65535. None is 255 for masks of 8 bits,
            65535 for masks of 16 bits, and 0 for masks in colours.
        min_visible: Fraction of an object's box, from 0.0 to 1.0, that the transformed picture must show. If it shows
            less, the object is dropped from all its columns. An object is always dropped if nothing of its box is
            shown.
        annotated: The picture to which the dataset's boxes and points refer: "seen" (with its EXIF orientation applied)
            or "stored" (without it).
        source_options: Options of the source, such as `{"payload": "picture"}`. docs/sources.md lists them. All sources
            have `roles`: `{"roles": {"boxes": "xywh"}}` says that a column has boxes, which then follow their pictures.
            None means their defaults.
        index: The index of the dataset, a file that `forebay index --output` wrote. "none" scans the dataset each time.
            None uses the index that a long scan has left, if it fits.
        root: Folder where relative paths in a CSV or a list start. None is the folder of that file. For a Python list
            as `source`, None is this process's working folder.
        on_error: What happens to a record that cannot be read or decoded: "fail" raises `RecordError`, "skip" leaves
            the record out, "replace" puts a copy of a good record in its place.
        read_timeout: Seconds after which a slow read makes a bad record, if the storage serves other files meanwhile.
            None is 60 s.
        epoch_end_timeout: Seconds that `next()` waits at an epoch's end for a batch that another trainer holds. Then it
            raises `EpochHeld`. None is 600 s.
        storage_timeout: Seconds that `next()` waits while the storage serves nothing. Then it raises `StorageStalled`.
            None is 600 s.
        pixel_limit: Pictures with more pixels are bad records. None is 178956970. This is a setting of the daemon, as
            `lanes` is.
        byte_limit: Files with more bytes are bad records: a number, or a text such as "2gib". None is "1gib". This is a
            setting of the daemon, as `lanes` is.
        max_failures: Number of bad records, or their share of the dataset from 0.0 to 1.0, above which the stream fails
            even if `on_error` is not "fail". None is no limit.
        socket: Path of the socket of a running `forebay serve`. `source` is then the stream's name.
        wait: How long to wait for a `forebay serve` that does not answer yet: seconds, or a text such as "60s". In
            containers, a trainer may start before the daemon. Only for streams. None is an error at once.
        random_shuffle: Another name for `shuffle`, as in DALI.

    Raises:
        SettingsError: With every setting that is wrong.
        DatasetError: The dataset is missing, empty or unreadable.
        AttachError: No daemon could be reached or started, or it refused this trainer.
        GpuError: The ring cannot be page-locked.

    Example:
        >>> loader = forebay.Loader("/data/train", batch_size=256, size=224, shuffle=True)      # doctest: +SKIP
        >>> for epoch in range(90):                                                             # doctest: +SKIP
        ...     for batch in loader:
        ...         step(batch.images, batch.labels)
    """

    _given: dict[str, Any]

    # This signature is the table of settings. Tests compare it with the docstring, and with the daemon's keys, values
    # and defaults.
    @_remember_given
    def __init__(
        self,
        source: Source,
        *,
        weights: Sequence[float] | None = None,
        repeats: int = 1,
        batch_size: int | None = None,
        size: int | None = None,
        transform: Transform | Sequence[Transform] | None = None,
        recipe: str | Mapping[str, Any] | None = None,
        views: Mapping[str, Any] | None = None,
        mixing: Transform | None = None,
        mixing_per_batch: bool = False,
        shuffle: bool | str = False,
        shuffle_window: int = 16,
        seed: int = 0,
        epochs: int | None = None,
        run: str | None = None,
        assignment: str | None = None,
        global_batch: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        shard_id: int | None = None,
        num_shards: int | None = None,
        stick_to_shard: bool = False,
        pad_last_batch: bool = True,
        mode: str = "split",
        group: str | None = None,
        join: str = "next",
        group_timeout: float | None = None,
        slow: str = "block",
        evict_after: float | None = None,
        last_batch_policy: str = "partial",
        prefetch_queue_depth: int | None = None,
        num_threads: int | None = None,
        decode_gpu: int | None = None,
        lanes: str | Sequence[str] | None = None,
        cache: Mapping[str, str | int] | None = None,
        placement: str | None = None,
        pin_memory: bool = False,
        writable: bool = False,
        dtype: Any = "uint8",  # noqa: ANN401 - whatever numpy or PyTorch takes
        layout: str = "NHWC",
        match: str = "pillow",
        adjust_orientation: bool = True,
        reducing_gap: float | None = None,
        fast: bool = False,
        labels: str = "auto",
        columns: Sequence[str] | Mapping[str, str] | None = None,
        masks: Mapping[str, str] | None = None,
        mask_fill: int | None = None,
        min_visible: float = 0.0,
        annotated: str = "seen",
        source_options: Mapping[str, str | int | bool | Mapping[str, str]] | None = None,
        index: str | None = None,
        root: str | os.PathLike[str] | None = None,
        on_error: str = "fail",
        read_timeout: float | None = None,
        epoch_end_timeout: float | None = None,
        storage_timeout: float | None = None,
        pixel_limit: int | None = None,
        byte_limit: int | str | None = None,
        max_failures: float | None = None,
        socket: str | os.PathLike[str] | None = None,
        wait: float | str | None = None,
        random_shuffle: bool | None = None,
    ) -> None:
        given = {name: value for name, value in self._given.items() if value is not None}
        ranks = frameworks.ranks()
        given = fill_in(given, os.environ, ranks)
        asked = request(source, given, by_name=socket is not None, interpreter=sys.executable)
        refuse_unsharded(given, os.environ, ranks, asked.stream)
        path = None if socket is None else socket_path(socket)
        self._feed = attach(asked, path, placement, writable=writable)
        self._source = source
        if pin_memory:
            try:
                self.pin()
            except NoDriverError as error:
                warnings.warn(f"pin_memory=True has no effect: {error}", stacklevel=3)
            except GpuError:
                self._feed.session.close()
                raise

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[False] = False,
        elements: None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[TorchBatch]: ...

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[False] = False,
        elements: Sequence[str],
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[tuple[Any, ...]]: ...

    @overload
    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,  # noqa: ANN401 - whatever PyTorch takes
        as_dict: Literal[True],
        elements: Sequence[str] | None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[dict[str, Any]]: ...

    def torch(
        self,
        *,
        copy: bool = True,
        device: Any = None,
        as_dict: bool = False,
        elements: Sequence[str] | None = None,
        num_classes: int | None = None,
        label_smoothing: float = 0.0,
    ) -> TorchLoader[Any]:
        """A loader that gives the same batches as PyTorch tensors.

        Args:
            copy: True makes fresh tensors, which you may keep and write to. False makes views on the ring. A write to a
                view in the host crashes the process, and you must not write to a view in a GPU. `forebay.gpu.GpuArray`
                says how long a view in a GPU keeps its slot in use.
            device: Device of the tensors. Copies to a GPU are asynchronous, and the slot returns to the daemon when
                they are done. Give the Loader `pin_memory=True` for that. None is the host. If the pixels are in a GPU,
                None is the GPU that PyTorch uses now, or else the one that has the pixels.
            as_dict: True gives a dict. Its keys are the names of the columns, `valid` and `epoch`. If the dataset has
                further columns, the dict also has the key `validity`. False gives a `forebay.torch.TorchBatch`, which
                unpacks as `(images, labels)` and has the other columns by name.
            elements: Names of columns, such as `("images", "labels")`. A batch is then a tuple of these tensors, or a
                dict with `as_dict=True`. None gives all columns.
            num_classes: Makes soft labels: `labels` is then `(n, num_classes)` of float32, as `Batch.soft_labels` gives
                it. None leaves labels as numbers.
            label_smoothing: The part of each soft label that all classes share. Needs `num_classes`.

        Raises:
            ImportError: PyTorch is not installed.
            SettingsError: `label_smoothing` without `num_classes`, or `elements` names no column of the dataset.

        Example:
            >>> for images, labels in loader.torch(device="cuda"):                              # doctest: +SKIP
            ...     loss = criterion(model(images), labels)
            >>> for batch in loader.torch(device="cuda"):                                       # doctest: +SKIP
            ...     losses = criterion(model(batch.images), batch.labels) * batch.mask
            >>> for images, boxes in loader.torch(elements=("images", "boxes")):                # doctest: +SKIP
            ...     loss = detector(images, boxes)
        """
        from forebay.torch.tensors import TorchLoader

        soft = None if num_classes is None else (num_classes, label_smoothing)
        if soft is None and label_smoothing:
            raise SettingsError("label_smoothing: give num_classes too, since only soft labels can be smoothed")
        names = None if elements is None else names_of(elements)
        return TorchLoader(self, copy=copy, device=device, as_dict=as_dict, elements=names, soft_labels=soft)

    def __repr__(self) -> str:
        source = self._source
        if isinstance(source, (list, tuple)) and source:
            source = source[0] if len(source) == 1 else f"{source[0]} and {len(source) - 1} more"
        source = source if isinstance(source, (str, os.PathLike)) else type(source).__name__
        return f"<forebay.Loader of {str(source)!r} batch_size={self.batch_size} batches={len(self)}>"

    def _draw(self, timeout: float | None = None) -> tuple[int, Batch | None]:
        return self._feed.draw(timeout)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Loader is bound to the process that made it, so it can be neither pickled nor copied. Make a Loader in "
            "each process, and move its progress with state_dict() and load_state_dict()"
        )
