"""Transforms without their chance."""

from torchvision.transforms.v2.functional import resize


class RandomResizedCrop:
    """The whole picture."""

    def __init__(self, size, antialias):
        self._size, self._antialias = size, antialias

    def __call__(self, picture):
        return resize(picture, self._size, antialias=self._antialias)


class RandomHorizontalFlip:
    """None."""

    def __call__(self, picture):
        return picture


class ToDtype:
    """From 0 to 1."""

    def __init__(self, dtype, scale):
        self._dtype, self._most = dtype, 255 if scale else 1

    def __call__(self, picture):
        return (picture / self._most).to(self._dtype)


class Compose:
    """One after the other."""

    def __init__(self, transforms):
        self._transforms = transforms

    def __call__(self, picture):
        for transform in self._transforms:
            picture = transform(picture)
        return picture
