"""What a stream with patches makes of a folder of pictures, by Pillow and numpy."""

import math

import numpy as np
from PIL import Image

SIDE, LENGTHS = 4, [6, 12, 20]
PATCHES = {"rule": "naflex", "patch": SIDE, "seq_lens": LENGTHS}


def grid_of(size, side, length):
    """Rows and columns of patches of a picture, by the bisection of timm."""

    def grid(factor):
        return [max(math.ceil(pixels * factor / side), 1) for pixels in size]

    low, high = 1e-6, 100.0
    while high - low >= 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if math.prod(grid(middle)) <= length else (low, middle)
    return grid(low)


def patches_of(image, grid, side, resample=Image.Resampling.BICUBIC):
    """The patches of a picture: `(rows * columns, side * side * 3)` of uint8."""
    rows, columns = grid
    pixels = np.asarray(image.convert("RGB").resize((columns * side, rows * side), resample))
    return pixels.reshape(rows, side, columns, side, 3).transpose(0, 2, 1, 3, 4).reshape(rows * columns, -1)


def spoil(sized, number):
    """Makes a record bad, without a sign of it."""
    sized.replace(number, bytes(len(sized.file(number).read_bytes())))


def check(sized, batch):
    """Compares a batch of uint8 with what Pillow makes of its records."""
    patches, coord, valid = batch.patches()
    length = patches.shape[1]
    assert length in LENGTHS
    assert patches.shape == (len(batch), length, SIDE * SIDE * 3)
    assert (coord.dtype, coord.shape) == (np.int32, (len(batch), length, 2))
    assert (valid.dtype, valid.shape) == (np.bool_, (len(batch), length))
    assert (batch.planned == batch.planned[0]).all()
    assert (batch.planned_tokens == batch.planned_tokens[0]).all()
    for place, record in enumerate(batch.records.tolist()):
        if record < 0:
            # In the place of a bad record is a copy of another one.
            assert any((patches[place] == other).all() for other in patches[batch.mask])
            assert valid[place].sum() == batch.grid[place].prod()
            continue
        grid = grid_of(sized.sizes[record], SIDE, length)
        assert batch.grid[place].tolist() == grid
        own = math.prod(grid)
        assert valid[place].tolist() == [True] * own + [False] * (length - own)
        assert (patches[place, :own] == patches_of(Image.open(sized.file(record)), grid, SIDE)).all(), record
        assert not patches[place, own:].any()
        assert not coord[place, own:].any()
        assert coord[place, :own].tolist() == [[row, column] for row in range(grid[0]) for column in range(grid[1])]
