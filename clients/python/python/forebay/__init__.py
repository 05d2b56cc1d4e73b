"""Training batches from image files, decoded once per node and mapped without a copy.

Example:
    >>> import forebay
    >>> loader = forebay.Loader("/data/train", batch_size=256, size=224, shuffle=True)      # doctest: +SKIP
    >>> for batch in loader:                                                                # doctest: +SKIP
    ...     step(batch.images, batch.labels)
"""

from forebay import errors, image, recipes, sharding, transforms
from forebay._native import __version__
from forebay.audit import EpochAudit, QuarantinedRecord
from forebay.batch import Batch, Padded
from forebay.errors import (
    AttachError,
    ClosedError,
    DatasetError,
    EpochHeld,
    Error,
    Evicted,
    ForkError,
    GpuError,
    MissedBatches,
    Outage,
    PictureError,
    RecordError,
    SettingsError,
    Skip,
    SlotsHeld,
    StorageStalled,
)
from forebay.groups import Lockstep, Shard, Source, Targets
from forebay.image_folder import ImageFolder
from forebay.loader import Loader
from forebay.mixing import Mixing
from forebay.patches import Patches
from forebay.policy import LastBatchPolicy
from forebay.ragged import Ragged
from forebay.sharding import DataShardService

__all__ = [
    "AttachError",
    "Batch",
    "ClosedError",
    "DataShardService",
    "DatasetError",
    "EpochAudit",
    "EpochHeld",
    "Error",
    "Evicted",
    "ForkError",
    "GpuError",
    "ImageFolder",
    "LastBatchPolicy",
    "Loader",
    "Lockstep",
    "MissedBatches",
    "Mixing",
    "Outage",
    "Padded",
    "Patches",
    "PictureError",
    "QuarantinedRecord",
    "Ragged",
    "RecordError",
    "SettingsError",
    "Shard",
    "Skip",
    "SlotsHeld",
    "Source",
    "StorageStalled",
    "Targets",
    "__version__",
    "errors",
    "image",
    "recipes",
    "sharding",
    "transforms",
]
