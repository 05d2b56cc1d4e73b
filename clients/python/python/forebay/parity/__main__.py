"""`python -m forebay.parity`, which is `forebay parity`."""

from __future__ import annotations

from forebay.parity.command import main

if __name__ == "__main__":
    main()
