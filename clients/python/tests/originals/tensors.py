"""How far our pixels are from torchvision's for uint8 tensors, where these depend on the CPU.

`ATEN_CPU_CAPABILITY=default python tensors.py` prints, for the arithmetic of that capability and by what was compared,
the greatest difference, how many values differ, and how many values there are.
"""

import json
import sys

import numpy as np

SHAPES = ((180, 240), (500, 375), (64, 64), (97, 61), (200, 100))
SIZES = ((224, 224), (300, 500), (61, 83), (30, 90), (100, 90))
FACTORS = (0.3, 0.99, 1.7, 2.3, 3.0, 4.9, 8.1, 11.7)


class Figures:
    """Differences, added up by name."""

    def __init__(self):
        self.found = {}

    def add(self, name, ours, theirs):
        apart = np.abs(ours.astype(int) - theirs)
        greatest, unequal, values = self.found.get(name, (0, 0, 0))
        unequal += int(np.count_nonzero(apart))
        self.found[name] = (max(greatest, int(apart.max())), unequal, values + apart.size)


def pictures():
    """Noise, stripes and slow changes."""
    random = np.random.default_rng(5)
    for height, width in SHAPES:
        yield random.integers(0, 256, (height, width, 3), dtype=np.uint8)
        stripes = np.add.outer(np.arange(height), np.arange(width)) % 64 > 32
        yield np.stack([stripes * 255] * 3, 2).astype(np.uint8)
        slow = np.add.outer(np.sin(np.arange(height) / 9) * 90, np.cos(np.arange(width) / 7) * 90) + 128
        yield np.stack([slow, slow * 0.7, 255 - slow], 2).clip(0, 255).astype(np.uint8)
    # The gray of this colour is a whole number, or the one below, by the last bit of a sum.
    yield np.full((8, 8, 3), (140, 160, 81), np.uint8)


def filters_rows_first(picture, size, mode):
    """Whether Pillow filters along the rows first, and then down the columns."""
    from PIL import Image

    def resized(image, height, width):
        return image.resize((width, height), Image.Resampling[mode.upper()])

    image = Image.fromarray(picture)
    rows_first = resized(resized(image, image.height, size[1]), *size)
    return resized(image, *size).tobytes() == rows_first.tobytes()


def main():
    import torch
    from forebay.transforms import functional as ours
    from torchvision.transforms.v2 import InterpolationMode
    from torchvision.transforms.v2 import functional as theirs

    torch.set_num_threads(1)
    figures = Figures()

    def array(tensor):
        return tensor.permute(1, 2, 0).numpy().astype(int)

    for picture in pictures():
        tensor = torch.from_numpy(picture.copy()).permute(2, 0, 1).contiguous()
        for mode in ("bilinear", "bicubic"):
            for size in SIZES:
                first = "rows first" if filters_rows_first(picture, size, mode) else "columns first"
                by_torch = array(theirs.resize(tensor, list(size), InterpolationMode(mode)))
                floats = array(theirs.resize(tensor.float(), list(size), InterpolationMode(mode)).clamp(0, 255).round())
                for match in ("pillow", "torch"):
                    made = ours.resize(picture, list(size), interpolation=mode, match=match)
                    figures.add(f"{mode}, {match}, {first}", made, by_torch)
                    figures.add(f"{mode}, {match}, floats", made, floats)
        for factor in FACTORS:
            for name in ("brightness", "contrast", "saturation"):
                made = getattr(ours, f"adjust_{name}")(picture, factor, match="torch")
                figures.add(f"{name} {factor}", made, array(getattr(theirs, f"adjust_{name}")(tensor, factor)))
    json.dump({"capability": torch.backends.cpu.get_cpu_capability(), **figures.found}, sys.stdout)


if __name__ == "__main__":
    main()
