"""The arguments of a Loader, with their texts.

Made by `make docs` from `forebay config --schema`; a test compares. Change the keys, not this file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.batch import Batch
from forebay.batches import Batches
from forebay.call import remember_given
from forebay.groups import Lockstep, Shard, Targets
from forebay.mixing import Mixing
from forebay.settings import AnySource
from forebay.transforms import Transform

__all__ = ["Arguments"]


class Arguments(Batches[Batch]):
    """What a Loader takes. `Loader` does the rest."""

    _given: dict[str, Any]

    @remember_given
    def __init__(
        self,
        source: AnySource,
        *,
        select: str | os.PathLike[str] | None = None,
        where: str | None = None,
        batch_size: int | None = None,
        size: int | None = None,
        transform: Transform | Sequence[Transform] | None = None,
        recipe: str | Mapping[str, Any] | None = None,
        match: str = "pillow",
        dtype: Any = "uint8",  # noqa: ANN401 - whatever numpy or PyTorch takes
        layout: str = "NHWC",
        mode: str = "RGB",
        adjust_orientation: bool = True,
        reducing_gap: float | None = None,
        python_workers: int | None = None,
        buckets: str | Sequence[str] | Mapping[str, Any] | None = None,
        patches: str | Mapping[str, Any] | None = None,
        views: Mapping[str, Any] | None = None,
        mixing: Transform | Mixing | None = None,
        targets: Targets | None = None,
        shuffle: bool | str = False,
        shuffle_window: int = 16,
        repeats: int = 1,
        run: str | None = None,
        sharding: str | Shard | Lockstep | None = None,
        cache: Mapping[str, str | int] | None = None,
        seed: int = 0,
        epochs: int | None = None,
        last_batch_policy: str = "partial",
        prefetch_queue_depth: int | None = None,
        placement: str | None = None,
        pin_memory: bool = False,
        decode_gpu: int | None = None,
        num_threads: int | None = None,
        on_error: str = "fail",
        max_failures: float | None = None,
        group: str | None = None,
        join: str = "next",
        writable: bool = False,
        socket: str | os.PathLike[str] | None = None,
        wait: float | str | None = None,
        config: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Attaches.

        Args:
            source: A folder of pictures or of class folders, a `.csv` file, a `.txt` file with one path per line, or a
                list of files. The list may have (path, label) pairs, such as `ImageFolder.samples` of torchvision.
                Labels are int or str; str labels become classes. docs/sources.md lists all other sources, such as
                `tar:`, `parquet:`, and `python:` for your own class that reads records. `stream:NAME` is a stream of a
                running `forebay serve`. This process's own daemon reads everything but a stream. It starts with the
                first Loader that needs it, and ends with the last. A list of folders or of sources with a scheme, such
                as `["/data/a", "tar:/data/b.tar"]`, is one dataset of all of them. A dict from source to weight, such
                as `{"/data/a": 0.7, "/data/b": 0.3}`, gives each its share of every epoch. A dict from first epoch to
                weight, such as `{0: 0.7, 10: 0.5}`, changes a weight from epoch 10 on. `forebay.Source` adds an index,
                a root or options to a source.
            select: The records that are read, as a file: an array of NumPy (.npy) with their numbers or with a bool for
                each record, or an Arrow or parquet file, behind which "?column=NAME" may name the column.
                docs/selections.md explains it. None: all records.
            where: The records that are read, as a condition on their labels, their sizes and the columns of the
                dataset. If select is given as well, both must hold. docs/selections.md has the grammar. None: all
                records.
            batch_size: Required, except in lockstep. The number of records in a batch. A stream has it already.
            size: Required, unless there is transform or recipe. The side of the square images in pixels. With shuffle,
                it means RandomResizedCrop(224) and a random flip. Without shuffle, it means Resize(256) and
                CenterCrop(224).
            transform: Required, unless there is size or recipe. A list of transforms: docs/transforms.md. They are
                classes of `forebay.transforms`.
            recipe: Required, unless there is size or transform. The transforms of published training code: a name, or a
                dict of the name and parameters. `forebay config --recipe NAME` prints the transforms, and
                docs/recipes.md lists the recipes. Some have further views. If a recipe normalises, dtype is "float32"
                unless you give it. Such as "torchvision_train", or `{"name": "timm_train", "size": 192}`.
                `forebay.recipes` has the same as lists that you can change.
            match: How resizes calculate. "pillow": as Pillow, to the byte. "torch": as torchvision on a GPU, with a
                uint8 tensor and antialias=True. "torch" is slower on the CPU, and has bilinear and bicubic filters
                only. The values of "torch" are within 1 of 255 of torchvision's.
            dtype: The type of the values: "uint8", "float16", "bfloat16" or "float32". Or a type of numpy or PyTorch
                with such a name. numpy has no bfloat16: see `Batch.images`.
            layout: The order of the axes: "NHWC" or "NCHW".
            mode: What a pixel has, by Pillow's names: "RGB"; "L", brightness alone, as convert("L") makes it; "RGBA";
                or "LA", brightness and alpha. With alpha, a picture without it is opaque, and transforms that change
                values are refused. Images have as many channels: [n, height, width, 1] with "L".
            adjust_orientation: Turns pictures as their EXIF orientation says. Set it to False to leave them as stored,
                like Pillow and torchvision.
            reducing_gap: Decodes a large JPEG at 1/2, 1/4 or 1/8 of its size, if each side keeps this many times the
                result's pixels. Set it to 2.0 for speed; the result is hard to tell from an exact one. Not allowed with
                a decoded cache. None: full size. At least 1.0.
            python_workers: Processes that call the functions in Python of a recipe. Raise it if the functions take
                longer than decoding. 0, of a Loader with its own daemon: the Loader's process calls them itself while
                it waits for a batch. None: half as many as decode threads.
            buckets: Batches whose pictures all have the size of one bucket; buckets differ from batch to batch. "kohya"
                and "diffusers" are the rules of those packages, and a list such as ["1024x1024", "832x1216"] (height x
                width) gives each picture the bucket of the nearest aspect. With "ragged", each picture keeps a size of
                its own. A table has the rule and its settings: resolution, min, max, step, no_upscale, max_crop, crop,
                interpolation, pixels, divisor, leftovers and accumulate. The dataset needs sizes (`forebay index SOURCE
                --sizes`), and transform may have what is done behind the cut. docs/sizes.md explains all of it. None:
                all pictures have one size.
            patches: Pictures at their own aspect, cut into patches, as native-resolution transformers train on them.
                "naflex", "siglip2" and "gemma4" are the sizes of timm's NaFlex loader and of the processors of SigLIP 2
                and Gemma 4. A table has the rule and its settings: patch, seq_lens, tokens, divisor, interpolation,
                padding, scale and ratio. transform may have what is done behind the resize. docs/sizes.md explains all
                of it. None: pictures are not cut into patches.
            views: Further views of each picture: columns with a size or transforms of their own. A picture is read and
                decoded once for all views, and each view has its own random choices. match, dtype and layout are those
                of images, unless a view has its own. Cannot be combined with `reducing_gap`. None: only images. A view
                is a list of `forebay.transforms`, such as `{"local": [transforms.RandomResizedCrop(96)]}`, or a dict of
                some of the settings size, transform, recipe, match, dtype and layout.
            mixing: Mixes each picture of a finished batch with the one before it: mix_up, cut_mix, or a random_choice
                of them. Batches then also have the columns mixed_labels and mix. See docs/transforms.md. None: pictures
                are not mixed. `transforms.MixUp`, `transforms.CutMix`, or a `transforms.RandomChoice` of them.
                `Mixing(..., per_batch=True)` mixes all pictures of a batch with the same weight. `batch.soft_labels`
                and `loader.torch(num_classes=...)` make soft labels of the two columns.
            targets: What a batch has beside the pictures: labels, columns, masks. See `forebay.Targets`. None has the
                defaults.
            shuffle: True gives each epoch its own random order. "grains" is for datasets that are read in grains, such
                as chunks or row groups: it shuffles grains, and the records within windows of grains. Each grain is
                then read once per epoch, if the source can keep the grains of a window. See docs/operating.md,
                "Shuffling a dataset that is read in grains".
            shuffle_window: With `shuffle="grains"`: the number of grains whose records are shuffled together. Raise it
                to mix records better. Lower it if a source cannot keep so many grains.
            repeats: How many times an epoch has each record, with other random choices each time. With weights, the
                epoch is that many times longer. The column `batch.repeats` tells the turns of a record apart.
            run: The name of the run. None: the current run continues. `forebay run new train` starts another one. In
                this process's own daemon, None is a fresh run, and a name is a run that is kept on disk: a Loader with
                the same name continues it.
            sharding: How the trainers of a job share an epoch. `Shard(shard_id, num_shards)`: each rank reads its
                shard. `Lockstep(global_batch)`: all ranks read the same step, whatever their number. "dynamic": each
                takes the next batch. None is "dynamic" for a process that trains alone. A rank of a job has to give one
                of the three.
            cache: Keeps the dataset in memory after the first epoch: files ("encoded"), or decoded pictures
                ("decoded"), shrunk if they are larger than max_side. See docs/operating.md, "Keeping a dataset in
                memory". None: nothing is kept. A dict of these keys, such as `{"keep": "decoded", "memory": "20gb"}`.
                Without max_side, no pixel changes. Loaders of one folder share the cache.
            seed: The seed of the order and of all random transforms.
            epochs: Passes over the dataset. None: no end. After the last one, a `for` yields nothing.
            last_batch_policy: The last batch of an epoch has fewer records ("partial"), repeats its last record
                ("fill"), or is left out ("drop"). A `forebay.LastBatchPolicy` is such a word too.
            prefetch_queue_depth: Batches that are kept ready, beyond those that trainers hold. None: 2, and for a
                stream what it has.
            placement: Where the pixels of batches are: "host" (shared memory), "gpu:0" (that GPU of the daemon), or
                "auto" (the first trainer's GPU, or else the host). Trainers must belong to the daemon's user to map a
                GPU. See docs/operating.md, "Pixels in a GPU". None: "host", and for a stream what it has. For a stream,
                the daemon's configuration decides. If its pixels are in a GPU, and PyTorch has not initialised CUDA
                yet, give `placement` anyway: the daemon learns of no GPU otherwise. All trainers that map memory of a
                GPU can write to it, so they must belong to one user. While a stream has trainers, it stays where the
                first of them had it. `loader.placement` says where that is.
            pin_memory: Lets trainers page-lock the ring. Set it if they copy batches to a GPU. Then only the daemon's
                own user may attach. The Loader calls `pin()` at once. The ring is locked for the GPU that PyTorch uses:
                call `torch.cuda.set_device` before. For a stream, the daemon's configuration needs it too. Without a
                CUDA driver it warns, as in PyTorch, and locks nothing.
            decode_gpu: The GPU that decodes for this stream beside the CPU, if `lanes` of `[decode]` has GPU lanes. Set
                it to the trainer's own GPU if trainers share a machine. None: the GPU that the pixels are in, or all
                GPUs.
            num_threads: Decode threads of this stream alone. None: it shares the pool of `[decode]`. That pool has all
                usable cores, divided by `LOCAL_WORLD_SIZE`.
            on_error: A picture that cannot be read or decoded fails the stream ("fail"), is skipped ("skip"), or is
                replaced by a copy of a good one ("replace"). `forebay status --quarantine` lists such pictures. "fail"
                raises `RecordError`.
            max_failures: The stream fails if more records are bad: a count, or a fraction of the dataset. None: no
                limit. It fails then even if `on_error` is not "fail".
            group: The group that this trainer joins, in a stream with `groups = "each"`. Trainers of one group share
                batches. None: this trainer is a group by itself.
            join: When a group begins that comes while the stream runs: "next" with the next batch, "epoch" with the
                next epoch.
            writable: True makes each batch a copy with its own arrays in the host, which you may keep and write to, as
                `Batch.copy()` does. False gives read-only views on the ring.
            socket: Path of the socket of a running `forebay serve`. `source` is then the stream's name. None is the
                usual path.
            wait: How long to wait for a `forebay serve` that does not answer yet: seconds, or a text such as "60s". In
                containers, a trainer may start before the daemon. Only for streams. None is an error at once.
            config: The configuration of this process's own daemon: a dict of sections of docs/configuration.md, such as
                `{"decode": {"lanes": ["hardware", "cpu"]}, "stream": {"read_timeout": "10s"}}`. The section "stream"
                has keys of a `[streams.NAME]` table that are no arguments here. The first Loader of a process decides
                on all others. For a stream, the daemon has its configuration already. None has the defaults.

        Raises:
            SettingsError: With every setting that is wrong.
            DatasetError: The dataset is missing, empty or unreadable.
            AttachError: No daemon could be reached or started, or it refused this trainer.
            GpuError: The ring cannot be page-locked.
        """
        self._start(source, self._given)

    def _start(self, source: AnySource, given: Mapping[str, Any]) -> None:
        raise NotImplementedError
