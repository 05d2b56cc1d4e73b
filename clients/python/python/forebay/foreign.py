"""Arguments of other libraries' loaders, and what a Loader takes in their place."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["refuse_foreign"]

_DATA_LOADER = "or use forebay.torch.DataLoader, which has the arguments of PyTorch's"
# Names of PyTorch, torchvision, TensorFlow and DALI.
_IN_PLACE = {
    "num_workers": "num_threads, the number of decode threads",
    "drop_last": 'last_batch_policy="drop"',
    "drop_remainder": 'last_batch_policy="drop"',
    "sampler": f"shuffle, shard_id and num_shards, {_DATA_LOADER}",
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
    "label_mode": "labels",
    "file_root": "source, the first argument",
    "file_list": "source, the first argument",
    "path": "source, the first argument",
    "device_id": "decode_gpu",
    "output_dtype": "dtype",
    "output_layout": "layout",
}


def refuse_foreign(given: Iterable[str]) -> None:
    """Refuses arguments that another library's loader has, with what to give instead.

    Raises:
        TypeError: There is such an argument, as Python raises it for any unknown one.
    """
    for name in given:
        if name in _IN_PLACE:
            raise TypeError(f"Loader() has no argument {name!r}: give {_IN_PLACE[name]}")
