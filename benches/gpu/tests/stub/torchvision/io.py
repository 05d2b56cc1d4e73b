"""Decoding by Pillow."""

import io
from enum import Enum

import numpy
import torch
from PIL import Image


class ImageReadMode(Enum):
    """How many channels."""

    RGB = 3


def _decoded(file):
    with Image.open(file) as image:
        return torch.from_numpy(numpy.array(image.convert("RGB"))).permute(2, 0, 1)


def decode_jpeg(files, mode, device):
    assert (mode, device) == (ImageReadMode.RGB, "cuda")
    return [_decoded(io.BytesIO(file.numpy().tobytes())) for file in files]


def decode_image(path, mode):
    assert mode == ImageReadMode.RGB
    return _decoded(path)
