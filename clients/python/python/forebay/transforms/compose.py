"""Several steps as one function of pictures."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.transforms.in_process import Carried, Picture, document, made_of, pipeline
from forebay.transforms.transform import Transform

__all__ = ["Compose"]


class Compose:
    """Carries steps out one after the other, in this process and without a daemon.

    It works on what the result shows: of a JPEG it decodes only the part that a crop keeps. A Loader takes the list
    itself: `Loader(transform=compose.transforms)`.

    Attributes:
        transforms: The steps.
        match: Whose pixels: "pillow" or "torch".

    Example:
        >>> import numpy as np
        >>> from forebay.transforms import Compose, Normalize, Resize
        >>> halved = Compose([Resize((2, 3)), Normalize([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])])
        >>> made = halved(np.full((4, 6, 3), 255, np.uint8))
        >>> made.shape, made.dtype.name, made.max().item()
        ((2, 3, 3), 'float32', 1.0)
    """

    def __init__(self, transforms: Sequence[Transform], *, match: str = "pillow") -> None:
        wrong = next((each for each in transforms if not isinstance(each, Transform)), None)
        if wrong is not None:
            raise ValueError(f"transforms: {wrong!r} is not one of forebay.transforms")
        self.transforms = list(transforms)
        self.match = match
        self._document = document([each.to_settings() for each in self.transforms])
        # So that wrong values are known now, and not at the first picture.
        pipeline(self._document, match)

    def __call__(
        self, picture: Picture, *, seed: int | None = None, epoch: int = 0, record: int = 0, name: str = "picture"
    ) -> Carried:
        """Carries the steps out on a picture. The arguments and the result are those of a single step's call.

        With `seed`, a Loader with this seed and list gives the same pixels for this record in this epoch. `name` is
        what errors call the picture, such as its path.
        """
        return made_of(pipeline(self._document, self.match), picture, (seed, epoch, record), name=name)

    def __repr__(self) -> str:
        steps = "".join(f"    {each!r},\n" for each in self.transforms)
        match = "" if self.match == "pillow" else f", match={self.match!r}"
        return f"Compose([\n{steps}]{match})"
