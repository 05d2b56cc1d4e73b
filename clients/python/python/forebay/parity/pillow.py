"""Pillow's pixels, and those of torch, torchvision and OpenCV, if they are installed."""

from __future__ import annotations

import io
import math
from importlib import metadata
from typing import Any

import numpy as np
from PIL import Image, ImageFilter, ImageOps, __version__, features

from forebay.parity.versions import Versions

try:
    import torch
except ImportError:
    torch = None

try:
    import cv2
except ImportError:
    cv2 = None

BLACK = (0, 0, 0, 255)
ORIENTATION = 0x0112
# Filters that Pillow calls something else.
FILTERS = {"lanczos3": "lanczos"}
SAMPLINGS = {
    ((1, 1), (1, 1), (1, 1)): "4:4:4",
    ((2, 1), (1, 1), (1, 1)): "4:2:2",
    ((2, 2), (1, 1), (1, 1)): "4:2:0",
    ((1, 2), (1, 1), (1, 1)): "4:4:0",
    ((4, 1), (1, 1), (1, 1)): "4:1:1",
    ((4, 2), (1, 1), (1, 1)): "4:1:0",
}


def versions() -> Versions:
    """What this interpreter has."""
    try:
        torchvision = metadata.version("torchvision") if torch else None
    except metadata.PackageNotFoundError:
        torchvision = None
    turbo = features.version_feature("libjpeg_turbo") or features.version("jpg")
    return Versions(__version__, turbo, torch and str(torch.__version__), torchvision, cv2 and cv2.__version__)


class Opened:
    """A file that Pillow opens.

    Attributes:
        data: The file's bytes.
        kind: Format, sampling and the like, in a few words.
        turned: Whether its EXIF orientation is another than as stored.
        coloured: Whether its stored colours are other than red, green, blue or their usual JPEG form.
        picture: The picture, upright, as RGB.

    Raises:
        Exception: Pillow refuses the file. Its plugins raise whatever comes.
    """

    def __init__(self, data: bytes) -> None:
        picture = Image.open(io.BytesIO(data))
        self.data = data
        self.kind = kind(picture)
        self.turned = picture.getexif().get(ORIENTATION, 1) in range(2, 9)
        self.coloured = picture.mode != "RGB"
        self.picture = seen(picture)


def kind(picture: Image.Image) -> str:
    """Format, sampling and the like, in a few words."""
    words = ["JPEG" if picture.format == "MPO" else picture.format]
    if words[0] == "JPEG":
        factors = tuple(tuple(layer[1:3]) for layer in getattr(picture, "layer", ()))
        names = {1: "gray", 4: "4 channels"}
        words.append(names.get(len(factors)) or SAMPLINGS.get(factors, "other sampling"))
        words += ["progressive"] if picture.info.get("progressive") else []
    return " ".join(words if words[0] == "JPEG" else [*words, picture.mode])


def seen(picture: Image.Image) -> Image.Image:
    """Upright, as RGB."""
    return flat(ImageOps.exif_transpose(picture))


def flat(picture: Image.Image) -> Image.Image:
    """Alpha over black, 16 bits as their upper 8 (Pillow would cut them off at 255), as RGB."""
    if picture.mode.startswith("I;16"):
        upper = 0 if picture.mode == "I;16B" else 1
        picture = Image.frombytes("L", picture.size, picture.tobytes()[upper::2])
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, BLACK), picture)
    return picture.convert("RGB")


def middle(picture: Image.Image, side: int) -> Image.Image:
    """CenterCrop of torchvision: what the picture lacks is black, as `crop` leaves it."""

    def first(length: int) -> int:
        return -((side - length) // 2) if length < side else round((length - side) / 2.0)

    left, top = first(picture.width), first(picture.height)
    return picture.crop((left, top, left + side, top + side))


def shorter(picture: Image.Image, side: int) -> Image.Image:
    """Resize of torchvision with one number."""
    width, height = picture.size
    size = (side, int(side * height / width)) if width <= height else (int(side * width / height), side)
    return picture.resize(size, Image.Resampling.BILINEAR)


def reduced(data: bytes, side: int, gap: float) -> Image.Image:
    """`thumbnail` with a reducing gap, but to a square: libjpeg scales, boxes are averaged, then filtered."""
    picture = Image.open(io.BytesIO(data))
    drafted = picture.draft(None, (int(side * gap), int(side * gap)))
    box = drafted[1] if drafted else None
    small = flat(picture).resize((side, side), Image.Resampling.BILINEAR, box, gap)
    # Not all of the file's EXIF: what is wrong elsewhere in it would be an error here alone.
    exif = Image.Exif()
    exif[ORIENTATION] = picture.getexif().get(ORIENTATION, 1)
    small.info = {"exif": exif.tobytes()}
    return ImageOps.exif_transpose(small)


def by_torch(picture: Image.Image, side: int, mode: str) -> Image.Image:
    """What torchvision makes of a uint8 tensor on a GPU: in floats, which are cut off and rounded at the end."""
    pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
    planes = pixels.view(1, picture.height, picture.width, 3).permute(0, 3, 1, 2).float()
    made = torch.nn.functional.interpolate(planes, (side, side), mode=mode, align_corners=False, antialias=True)
    rows = made.clamp(0, 255).round().to(torch.uint8).permute(0, 2, 3, 1)
    return Image.frombytes("RGB", (side, side), rows.contiguous().numpy().tobytes())


def part(plan: dict[str, Any], picture: Image.Image, side: int) -> Image.Image:
    """The part that a plan cuts out, resized to a square."""
    step = next(iter(plan["steps"]), {})
    if "cut" in step:
        left, top = step["cut"]["left"], step["cut"]["top"]
        picture = picture.crop((left, top, left + step["cut"]["width"], top + step["cut"]["height"]))
    picture = picture.resize((side, side), Image.Resampling.BILINEAR)
    return ImageOps.mirror(picture) if plan["mirrored"] else picture


def planned(
    plan: dict[str, Any], picture: Image.Image, resize: str = "pillow", magnitudes: dict[str, Any] | None = None
) -> Image.Image:
    """The steps of a plan, with the parameters that were drawn.

    `resize` is "pillow" or "opencv". `magnitudes` names the class of torchvision that computes magnitudes, if one does.
    """
    for step in plan["steps"]:
        name, given = (step, {}) if isinstance(step, str) else next(iter(step.items()))
        if name == "cut":
            left, top = given["left"], given["top"]
            picture = picture.crop((left, top, left + given["width"], top + given["height"]))
        elif name == "resize":
            picture = resized(picture, given, resize)
        elif name == "canvas":
            canvas = Image.new("RGB", (given["width"], given["height"]), (given["border"]["fill"],) * 3)
            canvas.paste(picture, (given["left"], given["top"]))
            picture = canvas
        elif name == "mirror":
            picture = ImageOps.mirror(picture)
        elif name == "flip":
            picture = ImageOps.flip(picture)
        else:
            picture = operated(picture, *torchvisions(magnitudes, given, picture.size))
    if plan["flipped"]:
        picture = ImageOps.flip(picture)
    return ImageOps.mirror(picture) if plan["mirrored"] else picture


def torchvisions(space: dict[str, Any] | None, operation: dict[str, Any], size: tuple[int, int]) -> tuple[str, Any]:
    """An operation, with the parameters that a class of torchvision computes for it on this machine.

    Where ours are none of them, the nearest ones are taken. So a magnitude with another last bit shows in pixels.
    """
    name, given = next(iter(operation.items()))
    if space is None or name not in BY_MAGNITUDE:
        if name != "aug_mix" or space is None:
            return name, given
        chains = [
            {**chain, "operations": [dict([torchvisions(space, each, size)]) for each in chain["operations"]]}
            for chain in given["chains"]
        ]
        return name, {**given, "chains": chains}
    from torchvision.transforms import v2

    computed = getattr(v2, space["class"])._AUGMENTATION_SPACE
    possible = []
    for key, parameters in BY_MAGNITUDE[name].items():
        magnitudes, is_signed = computed[key]
        for magnitude in magnitudes(space["bins"], size[1], size[0]).tolist():
            for signed in (magnitude, -magnitude) if is_signed else (magnitude,):
                made = parameters(signed, int)
                if all(listed(made[each]) == listed(given[each]) for each in made):
                    return name, given
                uncut = parameters(signed, float)
                apart = sum(abs(a - b) for each in uncut for a, b in zip(listed(uncut[each]), listed(given[each])))
                possible.append((apart, len(possible), made))
    return name, {**given, **min(possible)[2]}


def listed(value: Any) -> list[float]:  # noqa: ANN401 - one number or several
    """A parameter as numbers."""
    return [float(number) for number in value] if isinstance(value, list) else [float(value)]


def sheared(magnitude: float) -> float:
    """The angle of a shear."""
    return math.degrees(math.atan(magnitude))


# The parameters that torchvision makes of magnitudes, by our names of operations. It cuts translations to whole pixels.
BY_MAGNITUDE: dict[str, dict[str, Any]] = {
    "adjust_brightness": {"Brightness": lambda magnitude, _: {"brightness_factor": 1.0 + magnitude}},
    "adjust_saturation": {"Color": lambda magnitude, _: {"saturation_factor": 1.0 + magnitude}},
    "adjust_contrast": {"Contrast": lambda magnitude, _: {"contrast_factor": 1.0 + magnitude}},
    "adjust_sharpness": {"Sharpness": lambda magnitude, _: {"sharpness_factor": 1.0 + magnitude}},
    "rotate": {"Rotate": lambda magnitude, _: {"angle": magnitude}},
    "solarize": {"Solarize": lambda magnitude, _: {"threshold": 255.0 * magnitude}},
    "affine": {
        "ShearX": lambda magnitude, _: {"shear": [sheared(magnitude), 0.0], "translate": [0.0, 0.0]},
        "ShearY": lambda magnitude, _: {"shear": [0.0, sheared(magnitude)], "translate": [0.0, 0.0]},
        "TranslateX": lambda magnitude, cut: {"shear": [0.0, 0.0], "translate": [cut(magnitude), 0.0]},
        "TranslateY": lambda magnitude, cut: {"shear": [0.0, 0.0], "translate": [0.0, cut(magnitude)]},
    },
}


def resized(picture: Image.Image, given: dict[str, Any], by: str) -> Image.Image:
    """By Pillow, or by OpenCV without antialiasing, as YOLO does it."""
    size = (given["width"], given["height"])
    if by == "opencv":
        return Image.fromarray(cv2.resize(np.asarray(picture), size, interpolation=cv2.INTER_LINEAR))
    return picture.resize(size, Image.Resampling[FILTERS.get(given["interpolation"], given["interpolation"]).upper()])


def operated(picture: Image.Image, name: str, given: dict[str, Any]) -> Image.Image:
    """An operation on values: torchvision's, and Pillow's where timm asks Pillow or torchvision has none."""
    if name == "aug_mix":
        return mixed(picture, given)
    fill = given.get("fill")
    fill = tuple(map(int, fill)) if isinstance(fill, list) else fill
    if name == "affine_matrix":
        matrix, filtered = given["matrix"], Image.Resampling[given["interpolation"].upper()]
        return picture.transform(picture.size, Image.Transform.AFFINE, matrix, filtered, fillcolor=fill)
    if name == "solarize_add":
        added = [min(255, value + given["add"]) if value < given["threshold"] else value for value in range(256)]
        return picture.point(added * 3)
    if name == "adjust_hsv":
        turn = int(given["hue"] * 255)
        table = [(value + turn) % 256 for value in range(256)]
        for factor in (given["saturation"], given["value"]):
            table += [min(255, int(value * factor)) for value in range(256)]
        return picture.convert("HSV").point(table).convert("RGB")
    if name == "pillow_gaussian_blur":
        return picture.filter(ImageFilter.GaussianBlur(given["radius"]))
    if name == "posterize" and given["bits"] == 0:
        # Pillow refuses it.
        return Image.new("RGB", picture.size)
    return by_torchvision(picture, name, {**given, "fill": fill} if "fill" in given else given)


def by_torchvision(picture: Any, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - an image or a tensor
    """The function of torchvision with this name, of an image or of a tensor."""
    from torchvision.transforms.v2 import InterpolationMode, functional

    if "interpolation" in given:
        given = {**given, "interpolation": InterpolationMode(given["interpolation"])}
    return getattr(functional, name)(picture, **given)


def mixed(picture: Image.Image, given: dict[str, Any]) -> Image.Image:
    """AugMix: the operations are those for tensors, also of an image, and the sum in floats is cut off."""
    from torchvision.transforms.v2 import functional

    pixels = functional.pil_to_tensor(picture)
    total = given["own"] * pixels
    for chain in given["chains"]:
        made = pixels
        for operation in chain["operations"]:
            made = by_torchvision(made, *next(iter(operation.items())))
        total.add_(chain["weight"] * made)
    return functional.to_pil_image(total.to(torch.uint8))
