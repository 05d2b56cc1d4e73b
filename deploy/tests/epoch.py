"""Reads an epoch with an installed package, and prints its sum.

Usage: epoch.py FOLDER
       epoch.py stream:NAME     (of a service that has the same settings)

It prints the SHA-256 of all pixels, labels and records in order, and the audit. Both are the same on all machines.
"""

from __future__ import annotations

import hashlib
import sys

import forebay


def main(source: str) -> None:
    """Reads and prints."""
    own = {"batch_size": 8, "size": 96, "shuffle": True, "seed": 7}
    settings = {} if source.startswith("stream:") else own
    found = hashlib.sha256()
    records = []
    with forebay.Loader(source, **settings) as loader:
        for batch in loader:
            valid = batch.valid
            for array in (batch.images, batch.labels, batch.records):
                found.update(array[:valid].tobytes())
            records += batch.records[:valid].tolist()
        audit = loader.audit()
    assert sorted(records) == list(range(len(records))), "each record comes once"
    print(found.hexdigest())
    print(len(records), *audit, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
