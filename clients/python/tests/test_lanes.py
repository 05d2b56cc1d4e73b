"""Lanes of the process's own daemon, on the fake GPU."""

import shutil

import forebay
import numpy as np
import pytest
from forebay import AttachError, Loader, SettingsError, attachment

pytestmark = pytest.mark.daemon


@pytest.fixture
def decoding_gpu(gpu, monkeypatch):
    """A fake GPU that decodes."""
    monkeypatch.setenv("FOREBAY_NVJPEG", gpu.library._name)
    return gpu


def everything(folder, lanes=None):
    config = None if lanes is None else {"decode": {"lanes": lanes}}
    with Loader(folder, batch_size=4, size=32, epochs=1, config=config) as loader:
        return np.concatenate([batch.copy().images for batch in loader])


@pytest.mark.usefixtures("decoding_gpu")
def test_lanes_of_a_gpu_give_the_pixels_of_the_cpu(jpegs):
    expected = everything(jpegs)
    for lanes in ["auto", ["hardware"], ("hardware", "cpu")]:
        assert (everything(jpegs, lanes=lanes) == expected).all(), lanes


def test_lanes_that_are_named_have_to_be_right(decoding_gpu, jpegs, binary, tmp_path, monkeypatch):
    decoding_gpu.set_for_daemons(Wrong=1)
    starts, counting = tmp_path / "starts", tmp_path / "counting"
    counting.write_text(f'#!/bin/sh\necho start >>"{starts}"\nexec "{binary}" "$@"\n')
    counting.chmod(0o700)
    monkeypatch.setenv("FOREBAY_BIN", str(counting))
    with pytest.raises(SettingsError, match='names "hardware"'):
        everything(jpegs, lanes=["hardware"])
    assert starts.read_text() == "start\n", "another start would not help"
    assert len(everything(jpegs, lanes="auto")) == 12, "and auto goes on without one that is wrong"


@pytest.mark.usefixtures("binary")
def test_lanes_that_do_not_exist_are_told_with_those_that_do(jpegs):
    with pytest.raises(AttachError, match="gpu-huffman"):
        everything(jpegs, lanes=["engines"])


@pytest.mark.usefixtures("decoding_gpu")
def test_the_first_loader_of_a_process_decides_on_the_lanes(jpegs):
    with Loader(jpegs, batch_size=4, size=8, epochs=1):
        with pytest.raises(SettingsError, match="share one daemon"):
            Loader(jpegs, batch_size=4, size=8, epochs=1, config={"decode": {"lanes": "auto"}})
        assert len(everything(jpegs)) == 12
    with Loader(jpegs, batch_size=4, size=8, epochs=1, config={"decode": {"lanes": "auto"}}):
        assert len(everything(jpegs)) == 12


def test_nvjpeg_is_found_in_the_packages_of_the_loaders_python(gpu, jpegs, tmp_path, monkeypatch):
    expected = everything(jpegs)
    library = tmp_path / "site-packages/nvidia/cu13/lib/libnvjpeg.so.13"
    library.parent.mkdir(parents=True)
    shutil.copy(gpu.library._name, library)
    # The driver's file is that of both, and two copies would not know of each other's memory.
    monkeypatch.setenv("FOREBAY_CUDA_DRIVER", str(library))
    gpu.forget()
    monkeypatch.setattr(attachment, "_packages", lambda: [str(tmp_path / "site-packages")])
    assert (everything(jpegs, lanes=["hardware"]) == expected).all()


def test_a_running_daemon_has_lanes_of_its_own():
    with pytest.raises(SettingsError, match="has its configuration already; change that"):
        forebay.Loader("stream:train", config={"decode": {"lanes": "auto"}})
