"""Transforms of torchvision as steps of the daemon. Pure: it looks at objects and runs none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from forebay import transforms
from forebay.errors import SettingsError

__all__ = ["translated"]

# What changes no value of a pixel. All others do it as torchvision does if they see tensors, and else as Pillow does.
_MOVES = ("CenterCrop", "RandomHorizontalFlip", "Normalize")
_AFTER = "apply it to the finished batches in your loop, where a GPU can do it"


def translated(transform: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the dataset has
    """The settings that give what a transform of torchvision gives.

    The classes of `torchvision.transforms`, those of `torchvision.transforms.v2` and the presets of its weights are
    known. Random choices have the same distribution, and other values: they depend on seed, epoch and record.

    Args:
        transform: A transform, often a `Compose`; or a list of `forebay.transforms`.

    Raises:
        SettingsError: A transform cannot be given by the daemon. The message says what to do with it.
    """
    steps = list(transform) if isinstance(transform, (list, tuple)) else [transform]
    if all(isinstance(step, transforms.Transform) for step in steps):
        return {"transform": steps}
    found = _Translation()
    for step in _flat(transform):
        found.take(step)
    return found.settings()


class _Translation:
    """Takes torchvision's steps one by one."""

    def __init__(self) -> None:
        self._steps: list[transforms.Transform] = []
        self._is_tensor = False
        # None while the values are pixels from 0 to 255.
        self._scaled: torch.dtype | None = None
        self._match = "pillow"

    def take(self, step: Any) -> None:  # noqa: ANN401 - of torchvision
        name = type(step).__name__
        known = _STEPS.get(name) if type(step).__module__.startswith("torchvision.transforms") else None
        if known is None:
            self._take_conversion(step, name)
            return
        if self._scaled is not None and name not in _MOVES:
            raise SettingsError(f"transform: {name} comes after the conversion to floats; put it before")
        if self._is_tensor and name not in _MOVES:
            if getattr(step, "antialias", True) is not True and _filter(step) != "nearest":
                raise SettingsError(
                    f"transform: {name} of a tensor has antialias={step.antialias!r}, and the daemon always "
                    "antialiases; give it antialias=True, or put it before the conversion to a tensor"
                )
            self._match = "torch"
        if name == "Normalize" and self._scaled is None:
            raise SettingsError(
                "transform: Normalize needs floats; put ToTensor, or ToDtype with scale=True, before it"
            )
        if self._steps and isinstance(self._steps[-1], transforms.Normalize) and name != "RandomHorizontalFlip":
            raise SettingsError(f"transform: {name} comes after Normalize, which must be the last step; {_AFTER}")
        # Normalize must be the last step. A flip moves pixels only, so that it may as well come before.
        is_normalized = bool(self._steps) and isinstance(self._steps[-1], transforms.Normalize)
        self._steps.insert(len(self._steps) - is_normalized, known(step))

    def settings(self) -> dict[str, Any]:
        """The settings of a Loader."""
        if not self._is_tensor:
            raise SettingsError("transform: it gives no tensors; end it with ToTensor or PILToTensor")
        dtype = "uint8" if self._scaled is None else str(self._scaled).rpartition(".")[2]
        # torchvision leaves pictures as they are stored, and Pillow too.
        fixed = {"layout": "NCHW", "adjust_orientation": False, "match": self._match}
        return {"transform": self._steps, "dtype": dtype, **fixed}

    def _take_conversion(self, step: Any, name: str) -> None:  # noqa: ANN401 - of torchvision
        """A step that changes the values' type and no pixel."""
        is_known = type(step).__module__.startswith("torchvision.transforms")
        if is_known and name in ("PILToTensor", "ToImage", "ToImageTensor", "ToPureTensor", "Identity"):
            self._is_tensor = self._is_tensor or name != "Identity"
        elif is_known and name == "ToTensor":
            self._is_tensor, self._scaled = True, torch.float32
        elif is_known and name in ("ConvertImageDtype", "ConvertDtype", "ToDtype"):
            self._convert(step, name)
        else:
            kind = f"{type(step).__module__}.{name}"
            raise SettingsError(
                f"transform: {kind} is none that the daemon knows, and it runs no Python; {_AFTER}. It knows "
                f"{', '.join(_STEPS)} and the conversions to tensors"
            )

    def _convert(self, step: Any, name: str) -> None:  # noqa: ANN401 - of torchvision
        dtype = step.dtype
        if not isinstance(dtype, torch.dtype):
            raise SettingsError(f"transform: {name} has one type for each kind of value; give it a torch.dtype")
        if not self._is_tensor:
            raise SettingsError(f"transform: {name} takes tensors; put PILToTensor or ToImage before it")
        if dtype.is_floating_point and not getattr(step, "scale", True):
            raise SettingsError(f"transform: {name} leaves values from 0 to 255 in floats; give it scale=True")
        if dtype.is_floating_point:
            self._scaled = dtype
        elif dtype != torch.uint8 or self._scaled is not None:
            raise SettingsError(f"transform: {name} to {dtype}: the daemon gives uint8, or a float type")


def _flat(transform: Any) -> Iterable[Any]:  # noqa: ANN401 - of torchvision
    """The steps of a transform, however they are nested."""
    inner = getattr(transform, "transforms", None)
    if type(transform).__name__ in ("Compose", "Sequential") and inner is not None:
        for step in inner:
            yield from _flat(step)
    elif isinstance(transform, torch.nn.Sequential):
        for step in transform:
            yield from _flat(step)
    elif type(transform).__module__ == "torchvision.transforms._presets":
        yield from _preset(transform)
    else:
        yield transform


def _preset(preset: Any) -> Iterable[Any]:  # noqa: ANN401 - of torchvision
    """What `weights.transforms()` does, as the steps that it consists of."""
    if type(preset).__name__ != "ImageClassification":
        raise SettingsError(f"transform: the preset {type(preset).__name__} is not for pictures with one label")
    from torchvision.transforms import CenterCrop, Normalize, Resize, ToTensor

    yield Resize(preset.resize_size, preset.interpolation)
    yield CenterCrop(preset.crop_size)
    yield ToTensor()
    yield Normalize(preset.mean, preset.std)


def _size(size: int | Sequence[int]) -> int | tuple[int, ...]:
    """A size as the daemon takes it: torchvision writes a single number also as a list of one."""
    if isinstance(size, int):
        return size
    return size[0] if len(size) == 1 else tuple(size)


def _filter(step: Any) -> str:  # noqa: ANN401 - of torchvision
    name = getattr(step.interpolation, "value", step.interpolation)
    return "lanczos3" if name == "lanczos" else name


def _resize(step: Any) -> transforms.Transform:  # noqa: ANN401 - of torchvision
    if step.size is None or step.max_size is not None:
        raise SettingsError("transform: Resize has max_size, which the daemon does not know; give size alone")
    return transforms.Resize(_size(step.size), _filter(step))


def _square(step: Any) -> int | tuple[int, ...]:  # noqa: ANN401 - of torchvision
    size = _size(step.size)
    return (size, size) if isinstance(size, int) else size


def _within(step: Any) -> list[transforms.Transform]:  # noqa: ANN401 - of torchvision
    """The steps of a list by chance."""
    unknown = next((type(inner).__name__ for inner in step.transforms if type(inner).__name__ not in _STEPS), None)
    if unknown is not None:
        raise SettingsError(
            f"transform: {type(step).__name__} has {unknown}; in it, the daemon knows {', '.join(_STEPS)}"
        )
    return [_STEPS[type(inner).__name__](inner) for inner in step.transforms]


def _jitter(step: Any) -> transforms.Transform:  # noqa: ANN401 - of torchvision
    names = ("brightness", "contrast", "saturation", "hue")
    ranges = {name: getattr(step, name) for name in names}
    return transforms.ColorJitter(**{name: tuple(given) for name, given in ranges.items() if given is not None})


_STEPS: dict[str, Callable[[Any], transforms.Transform]] = {
    "RandomResizedCrop": lambda step: transforms.RandomResizedCrop(
        _square(step), tuple(step.scale), tuple(step.ratio), _filter(step)
    ),
    "Resize": _resize,
    "CenterCrop": lambda step: transforms.CenterCrop(_square(step)),
    "ColorJitter": _jitter,
    "Grayscale": lambda step: transforms.Grayscale(step.num_output_channels),
    "RandomGrayscale": lambda step: transforms.RandomGrayscale(step.p),
    "RandomAdjustSharpness": lambda step: transforms.RandomAdjustSharpness(step.sharpness_factor, step.p),
    "RandomSolarize": lambda step: transforms.RandomSolarize(step.threshold, step.p),
    "RandomPosterize": lambda step: transforms.RandomPosterize(step.bits, step.p),
    "RandomAutocontrast": lambda step: transforms.RandomAutocontrast(step.p),
    "RandomEqualize": lambda step: transforms.RandomEqualize(step.p),
    "RandomInvert": lambda step: transforms.RandomInvert(step.p),
    "RandomApply": lambda step: transforms.RandomApply(_within(step), step.p),
    "RandomChoice": lambda step: transforms.RandomChoice(_within(step), step.p),
    "RandomOrder": lambda step: transforms.RandomOrder(_within(step)),
    "RandomHorizontalFlip": lambda step: transforms.RandomHorizontalFlip(step.p),
    "Normalize": lambda step: transforms.Normalize(list(map(float, step.mean)), list(map(float, step.std))),
}
