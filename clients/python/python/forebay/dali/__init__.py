"""Batches for scripts that were written for DALI, with its reader, iterators and epochs. They need no DALI.

Example:
    >>> from forebay.dali import DALIClassificationIterator, FileReader, Pipeline               # doctest: +SKIP
    >>> reader = FileReader(file_root="/data/train", random_shuffle=True, name="Reader")        # doctest: +SKIP
    >>> pipeline = Pipeline(reader, batch_size=256, size=224)                                   # doctest: +SKIP
    >>> for data in DALIClassificationIterator([pipeline], reader_name="Reader"):               # doctest: +SKIP
    ...     step(data[0]["data"], data[0]["label"].squeeze(-1))
"""

from forebay.dali.file_reader import FileReader
from forebay.dali.iterator import DALIClassificationIterator, DALIGenericIterator
from forebay.dali.pipeline import Pipeline
from forebay.dali.report import EpochReport
from forebay.policy import LastBatchPolicy

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "EpochReport",
    "FileReader",
    "LastBatchPolicy",
    "Pipeline",
]
