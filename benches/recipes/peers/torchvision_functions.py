"""torchvision's `v2.functional` on tensors, which is faster than on Pillow's images, and its reader of JPEG."""

from __future__ import annotations

import warnings

import timing
import torch
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as f

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
PICTURE = torch.from_numpy(timing.picture()).permute(2, 0, 1).contiguous()
BILINEAR = InterpolationMode.BILINEAR
BLACK = torch.zeros(3, 1, 1, dtype=torch.uint8)


def jitter() -> torch.Tensor:
    """The four steps of a colour jitter."""
    changed = f.adjust_contrast(f.adjust_brightness(PICTURE, 1.3), 1.3)
    return f.adjust_hue(f.adjust_saturation(changed, 1.3), 0.1)


def decode(content: bytes) -> torch.Tensor:
    """A whole picture."""
    return decode_jpeg(torch.frombuffer(content, dtype=torch.uint8), ImageReadMode.RGB)


timing.run(
    {
        "brightness": lambda: f.adjust_brightness(PICTURE, 1.3),
        "contrast": lambda: f.adjust_contrast(PICTURE, 1.3),
        "saturation": lambda: f.adjust_saturation(PICTURE, 1.3),
        "hue": lambda: f.adjust_hue(PICTURE, 0.1),
        "color jitter": jitter,
        "gray": lambda: f.rgb_to_grayscale(PICTURE, 3),
        "solarize": lambda: f.solarize(PICTURE, 128),
        "posterize": lambda: f.posterize(PICTURE, 4),
        "invert": lambda: f.invert(PICTURE),
        "autocontrast": lambda: f.autocontrast(PICTURE),
        "equalize": lambda: f.equalize(PICTURE),
        "sharpness": lambda: f.adjust_sharpness(PICTURE, 1.7),
        "gaussian blur": lambda: f.gaussian_blur(PICTURE, [23, 23], [1.0, 1.0]),
        "affine": lambda: f.affine(PICTURE, 10, [0, 0], 1.1, [5, 0], BILINEAR),
        "rotate": lambda: f.rotate(PICTURE, 30, BILINEAR),
        "perspective": lambda: f.perspective(PICTURE, timing.CORNERS, timing.MOVED, BILINEAR),
        "erase": lambda: f.erase(PICTURE, *timing.ERASED, BLACK),
        "flip": lambda: f.horizontal_flip(PICTURE),
        "resize": lambda: f.resize(PICTURE, [128, 128], BILINEAR, antialias=True),
        "pad": lambda: f.pad(PICTURE, [16]),
    },
    decode,
)
