"""Arguments of other libraries' loaders and of older versions, and what a Loader takes in their place."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["refuse_foreign"]

_DATA_LOADER = "or use forebay.torch.DataLoader, which has the arguments of PyTorch's"
# Names of PyTorch, torchvision, TensorFlow and DALI.
_IN_PLACE = {
    "num_workers": "num_threads, the number of decode threads",
    "drop_last": 'last_batch_policy="drop"',
    "drop_remainder": 'last_batch_policy="drop"',
    "sampler": f"shuffle and sharding=Shard(shard_id, num_shards), {_DATA_LOADER}",
    "batch_sampler": f"batch_size and shuffle, {_DATA_LOADER}",
    "collate_fn": f"it nothing and call your function with each batch, {_DATA_LOADER}",
    "transforms": "transform",
    "target_transform": "it nothing and change batch.labels yourself",
    "prefetch_factor": "prefetch_queue_depth, the number of batches that are ready",
    "persistent_workers": "it nothing: the daemon lives from epoch to epoch",
    "worker_init_fn": "it nothing: there are no worker processes",
    "generator": "seed",
    "timeout": "next() the timeout",
    "epoch": "set_epoch() the epoch",
    "image_size": "size, or transform",
    "label_mode": "targets=Targets(labels=...)",
    "file_root": "source, the first argument",
    "file_list": "source, the first argument",
    "path": "source, the first argument",
    "device_id": "decode_gpu",
    "output_dtype": "dtype",
    "output_layout": "layout",
    "random_shuffle": "shuffle",
}
# What older versions had.
_MOVED = {
    **{
        name: f"targets=Targets({name}=...)"
        for name in ("labels", "columns", "masks", "mask_fill", "min_visible", "annotated")
    },
    **{name: f"Source(source, {name}=...) as the first argument" for name in ("index", "root")},
    "source_options": "Source(source, NAME=...) as the first argument, with each option by its name",
    "weights": "a dict from source to weight as the first argument",
    "assignment": 'sharding=Shard(...), Lockstep(...) or "dynamic"',
    "shard_id": "sharding=Shard(shard_id, num_shards)",
    "num_shards": 'sharding=Shard(shard_id, num_shards), or sharding="dynamic" in place of num_shards=1',
    **{name: f"sharding=Shard(shard_id, num_shards, {name}=...)" for name in ("stick_to_shard", "pad_last_batch")},
    "global_batch": "sharding=Lockstep(global_batch)",
    **{name: f"sharding=Lockstep(global_batch, {name}=...)" for name in ("rank", "world_size")},
    "mixing_per_batch": "mixing=Mixing(transform, per_batch=True)",
    "fast": "reducing_gap=2.0",
    "shard_size": 'config={"stream": {"lease_size": ...}}, or the daemon of a stream lease_size in its [streams.NAME] '
    "table",
    **{
        name: f'config={{"stream": {{"{name}": ...}}}}, or the daemon of a stream {name} in its [streams.NAME] table'
        for name in (
            "groups",
            "group_timeout",
            "slow",
            "evict_after",
            "read_timeout",
            "epoch_end_timeout",
            "storage_timeout",
        )
    },
    **{
        name: f'config={{"decode": {{"{name}": ...}}}}, or the daemon of a stream {name} in its [decode] table'
        for name in ("lanes", "pixel_limit", "byte_limit")
    },
}


def refuse_foreign(given: Iterable[str]) -> None:
    """Refuses arguments that another library's loader or an older version has, with what to give instead.

    Raises:
        TypeError: There is such an argument, as Python raises it for any unknown one.
    """
    for name in given:
        instead = _IN_PLACE.get(name) or _MOVED.get(name)
        if instead is not None:
            raise TypeError(f"Loader() has no argument {name!r}: give {instead}")
