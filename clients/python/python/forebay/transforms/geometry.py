"""Steps that move pixels: crops, resizes, borders and flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from forebay.transforms.transform import Transform

__all__ = [
    "CenterCrop",
    "Crop",
    "ExpectSize",
    "Letterbox",
    "Mosaic",
    "Pad",
    "PadBy",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomIoUCrop",
    "RandomResizedCrop",
    "RandomShortestSize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ScaleJitter",
    "Size",
]

Size = Union[int, Sequence[int]]


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """Cuts a random part out of the picture, and resizes it to `size`.

    Args:
        size: Side of a square, or (height, width), in pixels.
        scale: Smallest and largest share of the picture's area, each from 0 to 1.
        ratio: Smallest and largest width / height of the part.
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest"
            antialias.

    Example:
        >>> RandomResizedCrop(224, scale=(0.2, 1.0))
        RandomResizedCrop(size=224, scale=(0.2, 1.0), ratio=(0.75, 1.3333333333333333), interpolation='bilinear')
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class Resize(Transform):
    """Resizes the whole picture.

    Args:
        size: Length of the shorter side, which keeps the aspect ratio; or (height, width). In pixels.
        interpolation: Filter: "nearest", "bilinear", "bicubic" or "lanczos3". All but "nearest" antialias.

    Example:
        >>> Resize((224, 320)).to_settings()
        {'resize': {'size': [224, 320], 'interpolation': 'bilinear'}}
    """

    size: Size
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Cuts out the middle of the picture. A smaller picture gets a black border.

    Args:
        size: Side of a square, or (height, width), in pixels.

    Example:
        >>> CenterCrop(224).to_settings()
        {'center_crop': {'size': 224}}
    """

    size: Size


@dataclass(frozen=True)
class Crop(Transform):
    """Cuts out a part of the picture. It is black where it reaches beyond the picture.

    Args:
        top: First row. Negative above the picture.
        left: First column. Negative left of the picture.
        height: Rows.
        width: Columns.

    Example:
        >>> Crop(0, 10, 224, 224).to_settings()
        {'crop': {'top': 0, 'left': 10, 'height': 224, 'width': 224}}
    """

    top: int
    left: int
    height: int
    width: int


@dataclass(frozen=True)
class ExpectSize(Transform):
    """Refuses every picture that does not have this size, and leaves the others as they are.

    In a Loader, a picture of another size is a bad record, and the error names its file and both sizes.

    Args:
        size: Side of a square, or (height, width), in pixels.

    Example:
        >>> ExpectSize((224, 320)).to_settings()
        {'expect_size': {'size': [224, 320]}}
    """

    size: Size


@dataclass(frozen=True)
class Pad(Transform):
    """Adds a border, so that each side has at least the length in `size`. The picture stays in the middle.

    Args:
        size: Side of a square, or (height, width), in pixels.
        fill: Value of the border's pixels, from 0 to 255, if they are constant.
        padding_mode: What the border shows: "constant", "edge" (the outermost pixels), "reflect" (the picture
            mirrored, without the outermost pixels) or "symmetric" (mirrored with them).

    Example:
        >>> Pad((224, 320), fill=128).to_settings()
        {'pad': {'size': [224, 320], 'fill': 128, 'padding_mode': 'constant'}}
    """

    size: Size
    fill: int = 0
    padding_mode: str = "constant"


@dataclass(frozen=True)
class PadBy(Transform):
    """Adds a border of this width, as torchvision's `Pad` does.

    Args:
        padding: Width in pixels on all sides; or (left and right, above and below); or (left, above, right, below).
        fill: Value of the border's pixels, from 0 to 255, if they are constant; or red, green and blue.
        padding_mode: What the border shows, as in `Pad`.

    Example:
        >>> PadBy((4, 2), padding_mode="reflect").to_settings()
        {'pad_by': {'padding': [4, 2], 'fill': 0, 'padding_mode': 'reflect'}}
    """

    padding: Size
    fill: float | Sequence[float] = 0
    padding_mode: str = "constant"


@dataclass(frozen=True)
class RandomCrop(Transform):
    """Cuts out a part of this size at a random place, of which each is as likely.

    Args:
        size: Side of a square, or (height, width), in pixels.
        padding: Width of a border that the picture gets first, as in `PadBy`. None is none.
        pad_if_needed: True adds to a side that is still too short, on either end, as many pixels as it lacks. False
            refuses such a picture: in a Loader, it is a bad record.
        fill: Value of the border's pixels, from 0 to 255, if they are constant; or red, green and blue.
        padding_mode: What the border shows, as in `Pad`.

    Example:
        >>> RandomCrop(32, padding=4).to_settings()["random_crop"]["padding"]
        4
    """

    size: Size
    padding: Size | None = None
    pad_if_needed: bool = False
    fill: float | Sequence[float] = 0
    padding_mode: str = "constant"


@dataclass(frozen=True)
class Letterbox(Transform):
    """Resizes the whole picture, as large as `size` allows, and adds a border around it. It keeps its aspect ratio.

    The size and the border are those of YOLO. The resize is not OpenCV's.

    Args:
        size: Side of a square, or (height, width), in pixels.
        fill: Value of the border's pixels, from 0 to 255.
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3".

    Example:
        >>> Letterbox(640).to_settings()
        {'letterbox': {'size': 640, 'fill': 114, 'interpolation': 'bilinear'}}
    """

    size: Size
    fill: int = 114
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class ScaleJitter(Transform):
    """Resizes the picture so that it fits into a size, times a random factor. It keeps its aspect ratio.

    Args:
        target_size: Side of a square, or two numbers. As in torchvision, the first is compared with the width,
            and the second with the height.
        scale_range: Least and greatest factor.
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3".

    Example:
        >>> ScaleJitter((1024, 1024)).to_settings()["scale_jitter"]["scale_range"]
        [0.1, 2.0]
    """

    target_size: Size
    scale_range: tuple[float, float] = (0.1, 2.0)
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class Mosaic(Transform):
    """Shows four records in one place: the place's own one, and three random ones of the dataset. It is YOLO's mosaic.

    Four pictures, each resized to fit into `size`, meet with a corner at a random point of a canvas of twice the
    size. The canvas is then scaled and moved, and its middle is the result. The own picture is to the upper left of
    the point. The place has the boxes, points and masks of all four. The label and the record number are the own
    record's, and it alone counts as delivered.

    It must be the first step. Only flips, `RandomHSV` and `Normalize` may follow, and only a Loader can carry it out.

    Args:
        size: Side of a square, or (height, width), in pixels.
        scale: Least and greatest factor of the canvas.
        translate: How far the canvas is moved at most, as a part of the size, from 0 to 1.
        fill: Value of what no picture covers.
        p: The probability of four pictures. Otherwise the own picture is alone, and is scaled and moved too.
        interpolation: Filter of the resizes: "nearest", "bilinear", "bicubic" or "lanczos3".

    Example:
        >>> Mosaic(640, scale=(0.5, 1.5)).to_settings()["mosaic"]["translate"]
        0.1
    """

    size: Size
    scale: tuple[float, float] = (0.5, 1.5)
    translate: float = 0.1
    fill: int = 114
    p: float = 1.0
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class RandomShortestSize(Transform):
    """Resizes the picture to a random length of its shorter side. It keeps its aspect ratio.

    Args:
        min_size: Lengths of the shorter side, each as likely, or the only one.
        max_size: Greatest length of the longer side. A picture that would be longer is made smaller.
        interpolation: Filter of the resize: "nearest", "bilinear", "bicubic" or "lanczos3".

    Example:
        >>> RandomShortestSize([480, 512], max_size=1333).to_settings()["random_shortest_size"]["min_size"]
        [480, 512]
    """

    min_size: Size
    max_size: int | None = None
    interpolation: str = "bilinear"


@dataclass(frozen=True)
class RandomIoUCrop(Transform):
    """Cuts out a random part that shows enough of an object, and drops objects whose middle is outside of it.

    The dataset needs a column of boxes: its first one decides. The boxes are known before the picture is read, so the
    choice depends only on the seed, the epoch and the record, as every other one. Only a Loader can carry it out.

    Args:
        min_scale: Least width and height of the part, as parts of the picture's.
        max_scale: Greatest width and height of the part.
        min_aspect_ratio: Least width / height of the part.
        max_aspect_ratio: Greatest width / height of the part.
        sampler_options: The least overlaps (intersection over union) of a box and the part, of which one is drawn.
            From 1 on, the picture stays as it is. None is torchvision's list, from 0 to 1.
        trials: How many parts are tried for an overlap. After 4,194,304 comparisons of a part with a box, in all tries
            of a picture, it stays as it is.

    Example:
        >>> RandomIoUCrop(trials=10).to_settings()["random_iou_crop"]["min_scale"]
        0.3
    """

    min_scale: float = 0.3
    max_scale: float = 1.0
    min_aspect_ratio: float = 0.5
    max_aspect_ratio: float = 2.0
    sampler_options: Sequence[float] | None = None
    trials: int = 40


@dataclass(frozen=True)
class RandomZoomOut(Transform):
    """Lays the picture on a larger canvas at a random place, by chance.

    Args:
        fill: Value of the border, or red, green and blue. A mask has the Loader's `mask_fill` there.
        side_range: Least and greatest factor by which both sides of the canvas are longer, from 1 to 32.
        p: Probability, from 0 to 1.

    Example:
        >>> RandomZoomOut(fill=(123, 117, 104)).to_settings()["random_zoom_out"]["side_range"]
        [1.0, 4.0]
    """

    fill: float | Sequence[float] = 0
    side_range: tuple[float, float] = (1.0, 4.0)
    p: float = 0.5


@dataclass(frozen=True)
class RandomHorizontalFlip(Transform):
    """Mirrors the picture left to right, with a probability.

    Args:
        p: The probability, from 0 to 1.
        keypoints: Where a keypoint at `x` goes. "corners", the default: to `width - x`, as whole numbers are corners of
            pixels. "centers": to `width - 1 - x`, as whole numbers are centers of pixels, like torchvision's
            `KeyPoints`. A resize behind the flip scales the difference.
        flip_pairs: Numbers of the keypoints of an object that change places in a mirrored picture, from 0 and below
            10000, each at most once: `[(1, 2)]` for a left eye that has the number 1 and a right eye that has the
            number 2. They count for columns whose dataset does not say it. If several flips of a list have some, the
            first counts.

    Example:
        >>> RandomHorizontalFlip(0.25).to_settings()
        {'random_horizontal_flip': {'p': 0.25}}
        >>> RandomHorizontalFlip(keypoints="centers", flip_pairs=[(1, 2), (3, 4)]).to_settings()
        {'random_horizontal_flip': {'p': 0.5, 'keypoints': 'centers', 'flip_pairs': [[1, 2], [3, 4]]}}
    """

    p: float = 0.5
    keypoints: str | None = None
    flip_pairs: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True)
class RandomVerticalFlip(Transform):
    """Mirrors the picture top to bottom, with a probability.

    Args:
        p: The probability, from 0 to 1.
        keypoints: Where a keypoint at `y` goes: to `height - y` ("corners") or to `height - 1 - y` ("centers"), as in
            `RandomHorizontalFlip`.
        flip_pairs: As in `RandomHorizontalFlip`.

    Example:
        >>> RandomVerticalFlip(0.25).to_settings()
        {'random_vertical_flip': {'p': 0.25}}
    """

    p: float = 0.5
    keypoints: str | None = None
    flip_pairs: Sequence[Sequence[int]] | None = None
