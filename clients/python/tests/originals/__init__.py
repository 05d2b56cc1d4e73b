"""The libraries that first wrote and read each format. Tests use them beside our own readers.

`scripts/originals.txt` names the packages. `scripts/test.py` installs them outside of the virtual environment. Without
them, their tests are skipped.
"""

from originals import annotated, packed, tables
from originals.dataset import Dataset, Format, some_pictures

FORMATS = [*packed.FORMATS, *tables.FORMATS, *annotated.FORMATS]

__all__ = ["FORMATS", "Dataset", "Format", "some_pictures"]
