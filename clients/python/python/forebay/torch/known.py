"""The transforms of torchvision that the daemon has, each with what it becomes. A new one is a line in `STEPS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from forebay import transforms
from forebay.errors import SettingsError

__all__ = ["STEPS", "filter_of", "is_v2"]

Steps = Union[transforms.Transform, "list[transforms.Transform]"]


def is_v2(step: Any) -> bool:  # noqa: ANN401 - of torchvision
    """Whether a transform is one of `torchvision.transforms.v2`."""
    return type(step).__module__.startswith("torchvision.transforms.v2")


def filter_of(step: Any) -> str:  # noqa: ANN401 - of torchvision
    """The daemon's name of a transform's filter."""
    name = getattr(step.interpolation, "value", step.interpolation)
    # Pillow's numbers, which torchvision still takes.
    name = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}.get(name, name)
    if name == "nearest-exact":
        # Which of the two it is decides only how tensors are resized; a Pillow image has one of them.
        return "nearest"
    return "lanczos3" if name == "lanczos" else name


def _size(size: int | Sequence[int]) -> int | tuple[int, ...]:
    """A size as the daemon takes it: torchvision writes a single number also as a list of one."""
    if isinstance(size, int):
        return size
    return size[0] if len(size) == 1 else tuple(size)


def _square(step: Any) -> int | tuple[int, ...]:  # noqa: ANN401 - of torchvision
    size = _size(step.size)
    return (size, size) if isinstance(size, int) else size


def _fill(step: Any, none: float | None = 0) -> Any:  # noqa: ANN401 - of torchvision; a number or three
    """The value of what comes from outside of the picture. `none` is what no value means."""
    fill = step.fill
    if isinstance(fill, dict):
        raise SettingsError(
            f"transform: {type(step).__name__} has one fill for each kind of value; give it a number, or three"
        )
    if fill is None:
        return none
    if isinstance(fill, (int, float)):
        return fill
    return fill[0] if len(fill) == 1 else tuple(fill)


def _border(step: Any) -> dict[str, Any]:  # noqa: ANN401 - of torchvision
    return {"fill": _fill(step), "padding_mode": step.padding_mode}


def _moved(step: Any, none: float | None = 0) -> dict[str, Any]:  # noqa: ANN401 - of torchvision
    """Filter and fill of what moves pixels anywhere."""
    return {"interpolation": filter_of(step), "fill": _fill(step, none)}


def _pair(numbers: Sequence[float] | None) -> Any:  # noqa: ANN401 - numbers, or None
    return None if numbers is None else tuple(map(float, numbers))


def _resize(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    if step.size is None or step.max_size is not None:
        raise SettingsError("transform: Resize has max_size, which the daemon does not know; give size alone")
    return transforms.Resize(_size(step.size), filter_of(step))


def _random_crop(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    padding, border = step.padding, _border(step)
    if padding is not None and is_v2(step):
        # Its own order is left, right, above, below.
        left, right, above, below = padding
        padding = left if left == right == above == below else (left, above, right, below)
    elif padding is not None:
        padding = _size(padding)
    if padding is None or is_v2(step) or not step.pad_if_needed:
        return transforms.RandomCrop(tuple(step.size), padding, step.pad_if_needed, **border)
    # The older class pads what it has padded, which mirrored borders show.
    return [
        transforms.PadBy(padding, **border),
        transforms.RandomCrop(tuple(step.size), None, pad_if_needed=True, **border),
    ]


def _jitter(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    names = ("brightness", "contrast", "saturation", "hue")
    ranges = {name: getattr(step, name) for name in names}
    return transforms.ColorJitter(**{name: tuple(given) for name, given in ranges.items() if given is not None})


def _erasing(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    value = step.value
    if isinstance(value, (list, tuple)):
        value = value[0] if len(value) == 1 else tuple(value)
    return transforms.RandomErasing(step.p, _pair(step.scale), _pair(step.ratio), "random" if value is None else value)


def _rotation(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    return transforms.RandomRotation(_pair(step.degrees), expand=step.expand, center=_pair(step.center), **_moved(step))


def _affine(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    numbers = {name: _pair(getattr(step, name)) for name in ("translate", "scale", "shear", "center")}
    return transforms.RandomAffine(_pair(step.degrees), **numbers, **_moved(step))


def _aug_mix(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    names = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops")
    return transforms.AugMix(**{name: getattr(step, name) for name in names}, **_moved(step, None))


def _iou_crop(step: Any) -> Steps:  # noqa: ANN401 - of torchvision
    names = ("min_scale", "max_scale", "min_aspect_ratio", "max_aspect_ratio", "trials")
    given = {name: getattr(step, name) for name in names}
    return transforms.RandomIoUCrop(**given, sampler_options=tuple(step.options))


STEPS: dict[str, Callable[[Any], Steps]] = {
    "RandomResizedCrop": lambda step: transforms.RandomResizedCrop(
        _square(step), tuple(step.scale), tuple(step.ratio), filter_of(step)
    ),
    "Resize": _resize,
    "CenterCrop": lambda step: transforms.CenterCrop(_square(step)),
    "RandomCrop": _random_crop,
    "Pad": lambda step: transforms.PadBy(_size(step.padding), **_border(step)),
    "ScaleJitter": lambda step: transforms.ScaleJitter(
        tuple(step.target_size), tuple(step.scale_range), filter_of(step)
    ),
    "RandomShortestSize": lambda step: transforms.RandomShortestSize(
        tuple(step.min_size), step.max_size, filter_of(step)
    ),
    "RandomZoomOut": lambda step: transforms.RandomZoomOut(_fill(step), tuple(step.side_range), step.p),
    "RandomIoUCrop": _iou_crop,
    "ColorJitter": _jitter,
    "Grayscale": lambda step: transforms.Grayscale(step.num_output_channels),
    "RandomGrayscale": lambda step: transforms.RandomGrayscale(step.p),
    "RandomAdjustSharpness": lambda step: transforms.RandomAdjustSharpness(step.sharpness_factor, step.p),
    "RandomSolarize": lambda step: transforms.RandomSolarize(step.threshold, step.p),
    "RandomPosterize": lambda step: transforms.RandomPosterize(step.bits, step.p),
    "RandomAutocontrast": lambda step: transforms.RandomAutocontrast(step.p),
    "RandomEqualize": lambda step: transforms.RandomEqualize(step.p),
    "RandomInvert": lambda step: transforms.RandomInvert(step.p),
    "GaussianBlur": lambda step: transforms.GaussianBlur(tuple(step.kernel_size), _pair(step.sigma)),
    "RandomErasing": _erasing,
    "RandomRotation": _rotation,
    "RandomAffine": _affine,
    "RandomPerspective": lambda step: transforms.RandomPerspective(step.distortion_scale, step.p, **_moved(step)),
    "AutoAugment": lambda step: transforms.AutoAugment(step.policy.value, **_moved(step, None)),
    "RandAugment": lambda step: transforms.RandAugment(
        step.num_ops, step.magnitude, step.num_magnitude_bins, **_moved(step, None)
    ),
    "TrivialAugmentWide": lambda step: transforms.TrivialAugmentWide(step.num_magnitude_bins, **_moved(step, None)),
    "AugMix": _aug_mix,
    "RandomHorizontalFlip": lambda step: transforms.RandomHorizontalFlip(step.p),
    "RandomVerticalFlip": lambda step: transforms.RandomVerticalFlip(step.p),
    "Normalize": lambda step: transforms.Normalize(list(map(float, step.mean)), list(map(float, step.std))),
}
