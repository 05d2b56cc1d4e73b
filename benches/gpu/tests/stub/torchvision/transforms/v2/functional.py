"""One resize."""

import torch


def resize(picture, size, antialias):
    resized = torch.nn.functional.interpolate(picture[None].float(), size, mode="bilinear", antialias=antialias)
    return resized.round()[0].to(picture.dtype)
