"""A trainer that a part steps and kills: for each line it reads it takes a batch, and prints its records as JSON."""

from __future__ import annotations

import json
import sys

import forebay


def main(stream: str, socket: str, placement: str) -> None:
    """Says where the pixels stand, null at the end of the epoch, and then what the audit says of it."""
    with forebay.Loader(stream, socket=socket, placement=placement) as loader:
        print(json.dumps(loader.placement), flush=True)
        for _ in sys.stdin:
            batch = loader.next()
            print(json.dumps(None if batch is None else batch.records[batch.mask].tolist()), flush=True)
            if batch is None:
                break
            # The pixels are read as well: an address that has gone shows here.
            batch.copy()
        print(json.dumps(loader.audit()[0]._asdict()), flush=True)
        # It keeps the ring until it is told to end.
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
