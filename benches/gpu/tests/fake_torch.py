"""PyTorch without a GPU that says it has one: what it is asked for there is on the CPU, as the fake GPU's memory is."""

import types

import numpy
import torch
from torch.overrides import TorchFunctionMode


class OnTheCpu(TorchFunctionMode):
    """Calls that name the GPU."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = {key: _here(value) for key, value in (named or {}).items() if key != "pin_memory"}
        return function(*map(_here, arguments), **named)


def _here(value):
    names_it = isinstance(value, (str, torch.device)) and str(value).startswith("cuda")
    return torch.device("cpu") if names_it else value


class Event:
    """Of a stream on which everything is done at once."""

    def record(self, *_):
        pass

    def query(self):
        return True

    def synchronize(self):
        pass


class _Memory:
    """An array of the GPU, as NumPy asks for it."""

    def __init__(self, array):
        self.__array_interface__ = dict(array.__cuda_array_interface__)
        self.array = array


def install():
    """For the rest of this process."""
    as_tensor, autocast, loader = torch.as_tensor, torch.autocast, torch.utils.data.DataLoader

    def viewed(array, *rest, device=None, **named):
        if hasattr(array, "__cuda_array_interface__") and not isinstance(array, torch.Tensor):
            return torch.from_numpy(numpy.asarray(_Memory(array)))
        return as_tensor(array, *rest, device=_here(device), **named)

    torch.as_tensor = viewed
    torch.autocast = lambda *_, **__: autocast("cpu", dtype=torch.bfloat16)
    torch.utils.data.DataLoader = lambda *arguments, **named: loader(*arguments, **{**named, "pin_memory": False})
    torch.cuda.Event = lambda *_, **__: Event()
    torch.cuda.is_available = lambda: True
    torch.cuda.is_initialized = lambda: False
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.current_device = lambda: 0
    torch.cuda.current_stream = lambda *_: types.SimpleNamespace(cuda_stream=0)
    OnTheCpu().__enter__()
