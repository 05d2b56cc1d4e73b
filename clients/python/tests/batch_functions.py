"""What tests of functions of batches share: the transforms of their streams."""

from forebay import transforms

SIZE = 8
BEFORE = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]


def of_batches(name, **given):
    return transforms.Python(name, scope="batch", **given)
