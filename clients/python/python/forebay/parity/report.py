"""The result of a comparison for one dataset."""

from __future__ import annotations

from collections.abc import Iterable

from forebay.parity.difference import Difference, Tally

__all__ = ["Report"]


class Report:
    """Every difference, by what was done and by what the pictures are.

    Args:
        path: The dataset, as the user named it.
        tasks: Names of the comparisons, in the order of the table. The first is of whole pictures.

    Attributes:
        tasks: Differences by comparison.
        turned: Of whole pictures with an EXIF orientation.
        coloured: Of whole pictures that are gray, CMYK, palette, transparent or of 16 bits.
        kinds: Of whole pictures, by format and sampling.
        refused_by_us: Picture and reason.
        refused_by_pillow: Picture and reason.
        refused_by_both: How many pictures neither side opens.
        other_size: Pictures for which Pillow's result has another size.
        unreadable: Picture and reason.
    """

    def __init__(self, path: str, tasks: Iterable[str]) -> None:
        self.path = path
        self.tasks = {name: Tally() for name in tasks}
        self.turned, self.coloured = Tally(), Tally()
        self.kinds: dict[str, Tally] = {}
        self.refused_by_us: list[tuple[str, str]] = []
        self.refused_by_pillow: list[tuple[str, str]] = []
        self.refused_by_both = 0
        self.other_size: list[str] = []
        self.unreadable: list[tuple[str, str]] = []

    def add_whole(self, picture: str, kind: str, turned: bool, coloured: bool, difference: Difference) -> None:
        """Counts a whole picture by what it is."""
        self.kinds.setdefault(kind, Tally()).add(picture, difference)
        if turned:
            self.turned.add(picture, difference)
        if coloured:
            self.coloured.add(picture, difference)
