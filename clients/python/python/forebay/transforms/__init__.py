"""Steps between the decoder and the batch, with torchvision's names and meanings.

`Loader(transform=[...])` takes a list of them. After the list, all images must have one size: the last step, apart from
flips and `Normalize`, must give a fixed size. Every random choice depends only on seed, epoch and record, so a picture
gets the same crop on every machine and after every restart.

Example:
    >>> from forebay import transforms
    >>> train = [
    ...     transforms.RandomResizedCrop(224),
    ...     transforms.RandomHorizontalFlip(0.5),
    ...     transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ... ]
    >>> train[1].to_settings()
    {'random_horizontal_flip': {'p': 0.5}}

Each step but `Python` can be called with a picture, and so can `Compose`, which has a list of them. No daemon is needed
then.
`forebay.transforms.functional` has the same operations as functions of numpy arrays.
"""

from forebay.transforms import functional
from forebay.transforms.color import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    Normalize,
    PillowGaussianBlur,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomErasing,
    RandomGrayscale,
    RandomHSV,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
    ThreeAugment,
)
from forebay.transforms.compose import Compose
from forebay.transforms.geometry import (
    CenterCrop,
    Crop,
    ExpectSize,
    Letterbox,
    Mosaic,
    Pad,
    PadBy,
    RandomCrop,
    RandomHorizontalFlip,
    RandomIoUCrop,
    RandomResizedCrop,
    RandomShortestSize,
    RandomVerticalFlip,
    RandomZoomOut,
    Resize,
    ScaleJitter,
)
from forebay.transforms.lists import RandomApply, RandomChoice, RandomOrder
from forebay.transforms.mixes import CutMix, MixUp
from forebay.transforms.steps import Python
from forebay.transforms.transform import Transform
from forebay.transforms.warps import (
    AugMix,
    AutoAugment,
    RandAugment,
    RandomAffine,
    RandomPerspective,
    RandomRotation,
    TimmRandAugment,
    TrivialAugmentWide,
)

__all__ = [
    "AugMix",
    "AutoAugment",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "Crop",
    "CutMix",
    "ExpectSize",
    "GaussianBlur",
    "Grayscale",
    "Letterbox",
    "MixUp",
    "Mosaic",
    "Normalize",
    "Pad",
    "PadBy",
    "PillowGaussianBlur",
    "Python",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHSV",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomOrder",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ScaleJitter",
    "ThreeAugment",
    "TimmRandAugment",
    "Transform",
    "TrivialAugmentWide",
    "functional",
]
