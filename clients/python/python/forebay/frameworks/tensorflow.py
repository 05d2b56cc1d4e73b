"""TensorFlow, as the trainer uses it beside a Loader. Datasets are made in `forebay.tf`."""

from __future__ import annotations

from forebay.frameworks.framework import Framework

__all__ = ["TensorFlow"]


class TensorFlow(Framework):
    """TensorFlow: it maps no memory of other processes' GPUs, so its pixels are always in the host."""

    name = "tensorflow"

    def dtype_name(self, dtype: object) -> str | None:
        """The name of a `tf.DType`, which is numpy's, or "bfloat16"."""
        types = getattr(self.module, "DType", None)
        return dtype.name if types is not None and isinstance(dtype, types) else None
