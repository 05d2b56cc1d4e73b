"""Transforms of torchvision as steps of the daemon. Pure: it looks at objects and runs none of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

import torch

from forebay import transforms
from forebay.errors import SettingsError
from forebay.torch.known import STEPS, filter_of

__all__ = ["is_daemons", "translated"]

# What changes no value of a pixel. All others do it as torchvision does if they see tensors, and else as Pillow does.
_FLIPS = ("RandomHorizontalFlip", "RandomVerticalFlip")
_MOVES = ("CenterCrop", "RandomCrop", "Pad", "Normalize", "RandomErasing", *_FLIPS)
_AFTER = "apply it to the finished batches in your loop, where a GPU can do it"
_LISTS: dict[str, Callable[[Any, list[transforms.Transform]], transforms.Transform]] = {
    "RandomApply": lambda step, inner: transforms.RandomApply(inner, step.p),
    "RandomChoice": lambda step, inner: transforms.RandomChoice(inner, step.p),
    "RandomOrder": lambda _step, inner: transforms.RandomOrder(inner),
}


def is_daemons(transform: Any) -> bool:  # noqa: ANN401 - whatever the caller has
    """Whether a transform is one of `forebay.transforms`, or a list of such."""
    steps = transform if isinstance(transform, (list, tuple)) else [transform]
    return all(isinstance(step, transforms.Transform) for step in steps)


def translated(transform: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the dataset has
    """The settings that give what a transform of torchvision gives.

    The classes of `torchvision.transforms`, those of `torchvision.transforms.v2` and the presets of its weights are
    known. So is an object that only calls one of its attributes, such as the presets of torchvision's reference
    scripts: `def __call__(self, img): return self.transforms(img)`. Random choices have the same distribution, and
    other values: they depend on seed, epoch and record.

    Args:
        transform: A transform, often a `Compose`; or a list of `forebay.transforms`.

    Raises:
        SettingsError: A transform cannot be given by the daemon. The message says what to do with it.
    """
    if is_daemons(transform):
        return {"transform": list(transform) if isinstance(transform, (list, tuple)) else [transform]}
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
        made = self._made(step)
        if made is None:
            self._take_conversion(step, type(step).__name__)
            return
        # Normalize must be the last step but for RandomErasing. A flip moves pixels only, so that it may as well come
        # before. Where a rectangle is erased is as likely on either side.
        place = self._normalize_place()
        if place is None or isinstance(made[0], transforms.RandomErasing):
            place = len(self._steps)
        self._steps[place:place] = made

    def settings(self) -> dict[str, Any]:
        """The settings of a Loader."""
        if not self._is_tensor:
            raise SettingsError("transform: it gives no tensors; end it with ToTensor or PILToTensor")
        dtype = "uint8" if self._scaled is None else str(self._scaled).rpartition(".")[2]
        # torchvision leaves pictures as they are stored, and Pillow too.
        fixed = {"layout": "NCHW", "adjust_orientation": False, "match": self._match}
        return {"transform": self._steps, "dtype": dtype, **fixed}

    def _made(self, step: Any) -> list[transforms.Transform] | None:  # noqa: ANN401 - of torchvision
        """What a step becomes. None if it is none that changes pixels."""
        name = type(step).__name__
        if not type(step).__module__.startswith("torchvision.transforms"):
            return None
        if name in _LISTS:
            return [_LISTS[name](step, [self._inner(inner, name) for inner in step.transforms])]
        if name not in STEPS:
            return None
        self._check(step, name)
        made = STEPS[name](step)
        return [self._in_pixels(one) for one in (made if isinstance(made, list) else [made])]

    def _inner(self, step: Any, outer: str) -> transforms.Transform:  # noqa: ANN401 - of torchvision
        """A step of a list by chance. Several in a `Compose` are one."""
        made = []
        for inner in _flat(step):
            several = self._made(inner)
            if several is None:
                known = ", ".join((*STEPS, *_LISTS))
                raise SettingsError(f"transform: {outer} has {type(inner).__name__}; in it, the daemon knows {known}")
            made += several
        if self._normalize_place() is not None and any(isinstance(one, transforms.RandomErasing) for one in made):
            raise SettingsError(
                f"transform: {outer} with RandomErasing comes after Normalize; give RandomErasing alone, which has a "
                "probability of its own"
            )
        return made[0] if len(made) == 1 else transforms.RandomApply(made, 1.0)

    def _check(self, step: Any, name: str) -> None:  # noqa: ANN401 - of torchvision
        """Refuses a step that cannot be at its place."""
        if self._scaled is not None and name not in _MOVES:
            raise SettingsError(f"transform: {name} comes after the conversion to floats; put it before")
        if self._is_tensor and name not in _MOVES:
            if getattr(step, "antialias", True) is not True and filter_of(step) != "nearest":
                raise SettingsError(
                    f"transform: {name} of a tensor has antialias={step.antialias!r}, and the daemon always "
                    "antialiases; give it antialias=True, or put it before the conversion to a tensor"
                )
            self._match = "torch"
        if name == "Normalize" and self._scaled is None:
            raise SettingsError(
                "transform: Normalize needs floats; put ToTensor, or ToDtype with scale=True, before it"
            )
        is_normalized = self._normalize_place() is not None
        if name == "RandomErasing" and not self._is_tensor:
            raise SettingsError(
                "transform: RandomErasing takes tensors; put ToTensor, PILToTensor or ToImage before it"
            )
        if is_normalized and name not in (*_FLIPS, "RandomErasing"):
            raise SettingsError(f"transform: {name} comes after Normalize, which must be the last step; {_AFTER}")

    def _in_pixels(self, step: transforms.Transform) -> transforms.Transform:
        """The same with a value from 0 to 255, if the step is given floats from 0 to 1."""
        is_erasing = isinstance(step, transforms.RandomErasing)
        if is_erasing and self._normalize_place() is None and step.value == "random":
            raise SettingsError('transform: RandomErasing with value="random" needs Normalize before it')
        name = "value" if is_erasing else "fill"
        value = getattr(step, name, None)
        if not value or self._scaled is None or (is_erasing and self._normalize_place() is not None):
            return step
        pixels = tuple(round(255 * each) for each in value) if isinstance(value, tuple) else round(255 * value)
        return dataclasses.replace(step, **{name: pixels})  # type: ignore[type-var] - all steps are dataclasses

    def _normalize_place(self) -> int | None:
        kinds = [type(step) for step in self._steps]
        return kinds.index(transforms.Normalize) if transforms.Normalize in kinds else None

    def _take_conversion(self, step: Any, name: str) -> None:  # noqa: ANN401 - of torchvision
        """A step that changes the values' type and no pixel."""
        is_known = type(step).__module__.startswith("torchvision.transforms")
        # The daemon's pictures have three channels, so that RGB leaves them alone.
        if is_known and name in ("PILToTensor", "ToImage", "ToImageTensor", "ToPureTensor", "Identity", "RGB"):
            self._is_tensor = self._is_tensor or name not in ("Identity", "RGB")
        elif is_known and name == "ToTensor":
            self._is_tensor, self._scaled = True, torch.float32
        elif is_known and name in ("ConvertImageDtype", "ConvertDtype", "ToDtype"):
            self._convert(step, name)
        else:
            kind = f"{type(step).__module__}.{name}"
            raise SettingsError(
                f"transform: {kind} is none that the daemon knows, and it runs no Python; {_AFTER}. It knows "
                f"{', '.join((*STEPS, *_LISTS))} and the conversions to tensors"
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
    """The steps of a transform, however they are nested.

    A list is known by what it does and never by its name: a class of the user that is called `Compose` may do
    anything. One that is not a list stays whole, and is refused by its name.
    """
    if (steps := _steps(transform)) is not None:
        for step in steps:
            yield from _flat(step)
    elif type(transform).__module__ == "torchvision.transforms._presets":
        yield from _preset(transform)
    elif (called := _called(transform)) is not None:
        yield from _flat(called)
    else:
        yield transform


def _steps(transform: Any) -> Iterable[Any] | None:  # noqa: ANN401 - any object
    """The steps of what calls them in their order and does nothing else. None for all others.

    That is `Compose` of torchvision and `torch.nn.Sequential`, with their subclasses that inherit the call, and an
    object whose method is the same loop over one of its attributes.
    """
    kind = type(transform)
    if isinstance(transform, torch.nn.Sequential) and not _is_hooked(transform):
        is_plain = kind.forward is torch.nn.Sequential.forward and kind.__iter__ is torch.nn.Sequential.__iter__
        return transform if is_plain else None
    forward = getattr(kind, "forward", None)
    if isinstance(transform, torch.nn.Module) and getattr(forward, "__qualname__", None) == "Compose.forward":
        is_newer = forward.__module__.startswith("torchvision.transforms.v2.") and not _is_hooked(transform)
        return _own("transforms", transform) if is_newer else None
    name = _only_name(transform, _List)
    return None if name is None else _own(name, transform)


def _own(name: str, holder: Any) -> Any:  # noqa: ANN401 - any object
    """A list or a tuple that an object has under this name, also as torch's `ModuleList`. None if it has none."""
    found = getattr(holder, name, None)
    return found if isinstance(found, (list, tuple, torch.nn.ModuleList, torch.nn.Sequential)) else None


def _is_hooked(module: torch.nn.Module) -> bool:
    """Whether a call of the module does not only call its class's `forward`."""
    kind = type(module)
    hooks = (getattr(module, name, None) for name in ("_forward_hooks", "_forward_pre_hooks"))
    return kind.__call__ is not torch.nn.Module.__call__ or "forward" in vars(module) or any(hooks)


def _preset(preset: Any) -> Iterable[Any]:  # noqa: ANN401 - of torchvision
    """What `weights.transforms()` does, as the steps that it consists of."""
    from torchvision.transforms import CenterCrop, Normalize, Resize, ToTensor

    name = type(preset).__name__
    if name not in ("ImageClassification", "SemanticSegmentation", "ObjectDetection"):
        raise SettingsError(f"transform: the preset {name} is not for single pictures")
    if getattr(preset, "resize_size", None) is not None:
        yield Resize(preset.resize_size, preset.interpolation)
    if hasattr(preset, "crop_size"):
        yield CenterCrop(preset.crop_size)
    yield ToTensor()
    if hasattr(preset, "mean"):
        yield Normalize(preset.mean, preset.std)


def _code(function: Any) -> CodeType | None:  # noqa: ANN401 - a method, or anything else
    return function.__code__ if isinstance(function, FunctionType) else None


class _List:
    """What calls the steps of an attribute in their order, to compare others with it."""

    transforms: Any

    def __call__(self, img: Any) -> Any:  # noqa: ANN401 - a picture
        for step in self.transforms:
            img = step(img)
        return img


class _Passing:
    """What only calls an attribute, to compare others with it."""

    transforms: Any

    def __call__(self, img: Any) -> Any:  # noqa: ANN401 - a picture
        return self.transforms(img)


def _called(transform: Any) -> Any:  # noqa: ANN401 - any object
    """The attribute of an object that only calls this attribute with what it is given. None for all others.

    Such objects are compared by the instructions of their method, since none of them is run here.
    """
    if type(transform).__module__.startswith("torchvision.transforms"):
        return None
    name = _only_name(transform, _Passing)
    return None if name is None else getattr(transform, name, None)


def _only_name(transform: Any, like: type) -> str | None:  # noqa: ANN401 - any object
    """The one attribute that a call of an object uses, if its method has the instructions of `like`'s."""
    is_module = isinstance(transform, torch.nn.Module)
    if is_module and _is_hooked(transform):
        return None
    code = _code(getattr(type(transform), "forward" if is_module else "__call__", None))
    if code is None or code.co_code != like.__call__.__code__.co_code or len(code.co_names) != 1:
        return None
    return code.co_names[0]
