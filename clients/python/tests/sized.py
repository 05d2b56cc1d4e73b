"""Folders of pictures of different sizes, and what a stream with buckets makes of them."""

import io
import os
import subprocess
from pathlib import Path

import forebay
import numpy as np
from PIL import Image

BUCKETS = ["12x18", "18x12", "16x16"]
# Height and width of pictures, more of some than of others.
SIZES = [(12, 18), (24, 37), (18, 12), (40, 21), (16, 16), (33, 31), (9, 14)]
RECORDS = 45


class Sized:
    """A folder of pictures of different sizes, and its index."""

    def __init__(self, binary, folder, sizes):
        self.folder, self.index, self.sizes = folder, folder.parent / "sizes.arrow", sizes
        folder.mkdir()
        for number, size in enumerate(sizes):
            self.write(number, size)
        subprocess.run(
            [binary, "index", folder, "--sizes", "--output", self.index], check=True, stdout=subprocess.DEVNULL
        )

    def file(self, number) -> Path:
        return self.folder / f"{number:05}.ppm"

    def write(self, number, size):
        height, width = size
        rows, columns = np.mgrid[:height, :width]
        pixels = np.stack([rows * 5 + number, columns * 5 + number, rows * columns + number], axis=2) % 256
        image = io.BytesIO()
        Image.fromarray(pixels.astype(np.uint8)).save(image, "PPM")
        self.replace(number, image.getvalue())

    def replace(self, number, content):
        """Without a sign of it: the index takes the file for the one that it knows."""
        file = self.file(number)
        times = [(status.st_atime_ns, status.st_mtime_ns) for status in ([file.stat()] if file.exists() else [])]
        file.write_bytes(content)
        for ns in times:
            os.utime(file, ns=ns)

    @property
    def source(self):
        return forebay.Source(str(self.folder), index=str(self.index))

    def loader(self, **settings):
        return forebay.Loader(self.source, **{"buckets": BUCKETS, "batch_size": 4, "epochs": 1, **settings})

    def resized(self, number, bucket):
        """The picture once it covers a bucket, by Pillow."""
        (height, width), (high, wide) = self.sizes[number], bucket
        factor = max(high / height, wide / width)
        sides = [max(int(side * factor + 0.5), least) for side, least in ((width, wide), (height, high))]
        return Image.open(self.file(number)).resize(sides, Image.Resampling.BILINEAR)


def own(batch):
    return batch.records[batch.mask].tolist()


def check(sized, batch, is_mirrored=False):
    """Compares a batch with what Pillow makes of its records."""
    high, wide = batch.images.shape[1:3]
    assert f"{high}x{wide}" in BUCKETS
    assert (batch.planned == batch.planned[0]).all()
    assert (batch.shown == [high, wide]).all()
    for place, record in enumerate(batch.records.tolist()):
        assert batch.sizes[place].tolist() == list(sized.sizes[record])
        picture = np.asarray(sized.resized(record, (high, wide)))
        top, left = batch.crop[place].tolist()
        mirrored = (False, True) if is_mirrored else (False,)
        shown = [(picture[:, ::-1] if mirror else picture)[top : top + high, left : left + wide] for mirror in mirrored]
        assert any((batch.images[place] == part).all() for part in shown), record
