"""Kornia's functions on tensors of floats from 0 to 1, which is what they take."""

from __future__ import annotations

import kornia
import timing
import torch
from kornia import enhance
from kornia.geometry import transform

torch.set_num_threads(1)
torch.set_grad_enabled(False)
PICTURE = torch.from_numpy(timing.picture()).permute(2, 0, 1)[None].float() / 255
ANGLE = torch.tensor([30.0])
AFFINE = torch.tensor([[[0.8953, 0.1579, -5.96], [-0.1579, 0.9591, 22.27]]])
PERSPECTIVE = transform.get_perspective_transform(
    torch.tensor([timing.CORNERS], dtype=torch.float32), torch.tensor([timing.MOVED], dtype=torch.float32)
)
SIZE = (timing.SIDE, timing.SIDE)


def jitter() -> torch.Tensor:
    """The four steps of a colour jitter."""
    changed = enhance.adjust_contrast(enhance.adjust_brightness(PICTURE, 0.3), 1.3)
    return enhance.adjust_hue(enhance.adjust_saturation(changed, 1.3), 0.6)


def gray() -> torch.Tensor:
    """Three channels of gray."""
    return kornia.color.grayscale_to_rgb(kornia.color.rgb_to_grayscale(PICTURE))


timing.run(
    {
        "brightness": lambda: enhance.adjust_brightness(PICTURE, 0.3),
        "contrast": lambda: enhance.adjust_contrast(PICTURE, 1.3),
        "saturation": lambda: enhance.adjust_saturation(PICTURE, 1.3),
        "hue": lambda: enhance.adjust_hue(PICTURE, 0.6),
        "color jitter": jitter,
        "gray": gray,
        "solarize": lambda: enhance.solarize(PICTURE, 0.5),
        "posterize": lambda: enhance.posterize(PICTURE, 4),
        "invert": lambda: enhance.invert(PICTURE),
        "equalize": lambda: enhance.equalize(PICTURE),
        "sharpness": lambda: enhance.sharpness(PICTURE, 1.7),
        "gaussian blur": lambda: kornia.filters.gaussian_blur2d(PICTURE, (23, 23), (1.0, 1.0)),
        "affine": lambda: transform.warp_affine(PICTURE, AFFINE, SIZE),
        "rotate": lambda: transform.rotate(PICTURE, ANGLE),
        "perspective": lambda: transform.warp_perspective(PICTURE, PERSPECTIVE, SIZE),
        "flip": lambda: transform.hflip(PICTURE),
        "resize": lambda: transform.resize(PICTURE, (128, 128), antialias=True),
    }
)
