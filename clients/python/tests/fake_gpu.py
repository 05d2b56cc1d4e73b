"""The fake GPU of the Rust tests, for this process and the daemons that it starts."""

import ctypes
import os
import shutil
from pathlib import Path

import pytest
from forebay._cuda import context, driver

ROOT = Path(__file__).resolve().parents[3]
NAME = "libforebay_fake_gpu.so"


def variants(enum):
    """Names of an enum in the fake's source, by their number."""
    source = (ROOT / "cuda" / "fakes" / "src" / "dial.rs").read_text()
    body = source.split(f"pub enum {enum} {{")[1].split("\n}")[0]
    lines = (line.strip() for line in body.splitlines())
    return {line.rstrip(","): number for number, line in enumerate(each for each in lines if each[:1].isupper())}


class FakeGpu:
    """An own copy of the library, with its own knobs and counts."""

    def __init__(self, folder, monkeypatch):
        built = [os.environ.get("FOREBAY_FAKE_GPU"), ROOT / "target/debug/deps" / NAME, ROOT / "target/debug" / NAME]
        found = next((path for path in built if path and Path(path).exists()), None)
        if found is None:
            pytest.skip("there is no fake GPU: cargo builds it with the Rust tests, FOREBAY_FAKE_GPU names it")
        path = folder / NAME
        shutil.copy(found, path)
        self.monkeypatch = monkeypatch
        self.library = ctypes.CDLL(str(path))
        self.library.forebay_fake_count.restype = ctypes.c_int64
        self.library.forebay_fake_set.argtypes = [ctypes.c_size_t, ctypes.c_int64]
        monkeypatch.setenv("FOREBAY_CUDA_DRIVER", str(path))
        self.forget()

    def forget(self):
        """The next use of the driver opens it anew."""
        driver.driver.cache_clear()
        context.context.cache_clear()

    def set(self, **knobs):
        """Turns knobs in this process."""
        for name, value in knobs.items():
            self.library.forebay_fake_set(variants("Knob")[name], value)

    def set_for_daemons(self, **knobs):
        """Turns knobs in processes that start from now on."""
        pairs = (f"{variants('Knob')[name]}={value}" for name, value in knobs.items())
        self.monkeypatch.setenv("FOREBAY_FAKE_KNOBS", " ".join(pairs))

    def count(self, name):
        """Reads a count of this process."""
        return self.library.forebay_fake_count(variants("Count")[name])
