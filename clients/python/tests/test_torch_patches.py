"""Patches as tensors, with the names, types and values of timm and transformers. Skipped where these are missing."""

import forebay
import numpy as np
import pytest
from forebay import SettingsError, transforms
from patched import PATCHES
from PIL import Image

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader  # noqa: E402 - it imports PyTorch

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.mark.parametrize("copy", [True, False])
def test_rule_65_tensors_are_those_of_numpy(sized, copy):
    sized = sized()
    settings = {"buckets": None, "patches": PATCHES, "shuffle": True, "seed": 3}
    with sized.loader(**settings) as loader:
        arrays = [batch.copy().patches() for batch in loader]
    with sized.loader(**settings) as loader:
        for array, batch in zip(arrays, loader.torch(copy=copy)):
            tensors = batch.patches()
            assert (tensors.coord.dtype, tensors.valid.dtype) == (torch.int32, torch.bool)
            assert all((tensor.numpy() == of).all() for tensor, of in zip(tensors, array))
            assert tensors.patches.data_ptr() == batch.images.data_ptr(), "a view"


def test_rule_65_a_data_loader_gives_images_labels_and_the_columns_of_patches(sized):
    sized = sized()
    loader = DataLoader(sized.source, batch_size=4, patches=PATCHES, layout="NHWC")
    for images, labels, planned, tokens, grid in loader:
        assert images.shape[2:] == (16, 3)
        assert (len(labels), len(planned), len(tokens), tuple(grid.shape)) == (4, 4, 4, (4, 2))
    loader.close()
    with pytest.raises(SettingsError, match="with patches, the last batch"):
        DataLoader(sized.source, batch_size=4, patches=PATCHES, drop_last=True)


def test_rule_65_names_are_of_a_stream_with_patches_and_known(sized):
    sized = sized(8)
    with sized.loader() as loader, pytest.raises(SettingsError, match="the stream has no patches"):
        loader.torch(names="timm")
    with sized.loader(buckets=None, patches=PATCHES) as loader, pytest.raises(SettingsError, match="siglip2"):
        loader.torch(names="kimi")


def photographs(tmp_path):
    """Pictures of several sizes, with details in all directions."""
    sizes = [(97, 143), (240, 131), (160, 160), (50, 301), (33, 35), (410, 230), (64, 20)]
    folder = tmp_path / "photographs"
    folder.mkdir()
    drawn = np.random.default_rng(4)
    for number, size in enumerate(sizes):
        coarse = Image.fromarray(drawn.integers(0, 256, (9, 9, 3), np.uint8)).resize(size[::-1], 3)
        noise = drawn.integers(-20, 20, (*size, 3))
        pixels = np.clip(np.asarray(coarse).astype(int) + noise, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder, [Image.open(folder / f"{number}.png") for number in range(len(sizes))]


def test_rule_65_values_are_those_of_the_processor_of_siglip2(tmp_path):
    module = "transformers.models.siglip2.image_processing_pil_siglip2"
    siglip2 = pytest.importorskip(module, reason="transformers is not installed; `make originals` installs it")
    folder, pictures = photographs(tmp_path)
    expected = siglip2.Siglip2ImageProcessorPil()(pictures, return_tensors="pt")
    settings = {"batch_size": len(pictures), "epochs": 1, "dtype": "float32", "patches": "siglip2"}
    with forebay.Loader(str(folder), **settings) as loader:
        ((inputs, batch),) = list(loader.torch(names="siglip2"))
    assert batch.mask.all()
    assert_equal(inputs, expected)


def test_rule_65_values_are_those_of_the_processor_of_gemma4(tmp_path):
    module = "transformers.models.gemma4.image_processing_pil_gemma4"
    gemma4 = pytest.importorskip(module, reason="transformers is not installed; `make originals` installs it")
    folder, pictures = photographs(tmp_path)
    expected = gemma4.Gemma4ImageProcessorPil()(pictures, return_tensors="pt", max_soft_tokens=70)
    patches = {"rule": "gemma4", "seq_lens": 630}
    settings = {"batch_size": len(pictures), "epochs": 1, "dtype": "float32", "patches": patches}
    with forebay.Loader(str(folder), **settings) as loader:
        ((inputs, _),) = list(loader.torch(names="gemma4"))
    assert_equal(inputs, expected)


def assert_equal(inputs, expected):
    """The same names, types and integers, and floats that differ in the last digit."""
    assert set(inputs) == set(expected)
    for name, tensor in expected.items():
        assert (inputs[name].dtype, inputs[name].shape) == (tensor.dtype, tensor.shape), name
        if tensor.is_floating_point():
            assert (inputs[name] - tensor).abs().max() < 1e-6, name
        else:
            assert (inputs[name] == tensor).all(), name


def test_rule_65_values_are_those_of_timms_loader(tmp_path):
    naflex = pytest.importorskip(
        "timm.data.naflex_dataset", reason="timm is not installed; `make test-torch` installs it"
    )
    from timm.data.naflex_transforms import Patchify, ResizeToSequence
    from torchvision.transforms import Compose, Normalize, ToTensor

    folder, pictures = photographs(tmp_path)
    mean, std = (0.5, 0.4, 0.3), (0.5, 0.25, 0.2)
    steps = [ResizeToSequence(16, 64, interpolation="bicubic"), ToTensor(), Normalize(mean, std), Patchify(16)]
    samples = [(Compose(steps)(picture), number) for number, picture in enumerate(pictures)]
    expected, _ = naflex.NaFlexCollator(64)(samples)
    settings = {
        "batch_size": len(pictures),
        "epochs": 1,
        "dtype": "float32",
        "transform": [transforms.Normalize(mean, std)],
    }
    with forebay.Loader(str(folder), patches={"rule": "naflex", "seq_lens": 64}, **settings) as loader:
        ((inputs, batch),) = list(loader.torch(names="timm"))
    assert inputs.pop("seq_len") == expected.pop("seq_len") == 64
    assert batch.labels.tolist() == [-1] * len(pictures)
    assert_equal(inputs, expected)
