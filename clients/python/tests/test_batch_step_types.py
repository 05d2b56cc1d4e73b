"""What a function of batches gets for bfloat16, which numpy lacks: a tensor of PyTorch, or the bits (rule 59)."""

import forebay
import numpy as np
import pytest
from batch_functions import BEFORE, of_batches
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

STEPS = [*BEFORE, transforms.Normalize([0.5] * 3, [0.25] * 3)]
VIEWS = {"small": [transforms.RandomResizedCrop(4)]}
GIVEN = {"batch_size": 5, "epochs": 1, "seed": 3, "dtype": "bfloat16", "views": VIEWS}
SIGN = np.uint16(0x8000)


def numbers(bits):
    """The numbers of bfloat16 with these bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def seen(source, steps, **given):
    """Copies of all batches, with bfloat16 as bits."""
    made = []
    with forebay.Loader(source, transform=steps, **GIVEN, **given) as loader:
        for batch in loader:
            arrays = {
                name: np.array(batch[name]) for name in batch.columns if name in ("images", "small", "soft", "mean")
            }
            assert all(array.dtype == np.uint16 for name, array in arrays.items() if name != "mean")
            made.append(arrays)
    assert len(made) == 3
    return made


WITHOUT_TORCH = """
import sys

import numpy as np

def changes(batch):
    assert "torch" not in sys.modules
    for array in (batch.images, batch.small, batch.soft):
        assert (array.dtype, array.flags.writeable) == (np.uint16, True)
    numbers = (batch.images.astype(np.uint32) << 16).view(np.float32)
    batch.mean[...] = numbers.mean(axis=(1, 2, 3))
    batch.images ^= 0x8000
    batch.soft[...] = 0x3F80

def returns(batch):
    changed = {"images": batch.images ^ np.uint16(0x8000), "soft": np.full_like(batch.soft, 0x3F80)}
    numbers = (batch.images.astype(np.uint32) << 16).view(np.float32)
    return {**changed, "mean": numbers.mean(axis=(1, 2, 3))}

def wrong(batch):
    return {"images": (batch.images.astype(np.uint32) << 16).view(np.float32)}
"""
DECLARED = {"soft": "bf16 [2]", "mean": "f32"}


@pytest.mark.parametrize("function", ["changes", "returns"])
def test_rule_59_without_pytorch_bfloat16_is_its_bits(jpegs, batch_module, function):
    name = batch_module(WITHOUT_TORCH)
    plain = seen(jpegs, STEPS)
    made = seen(jpegs, [*STEPS, of_batches(f"{name}:{function}", columns=DECLARED)])
    for before, after in zip(plain, made, strict=True):
        assert before["images"].any()
        assert np.array_equal(after["images"], before["images"] ^ SIGN)
        assert np.array_equal(after["small"], before["small"])
        assert np.array_equal(after["mean"], numbers(before["images"]).mean(axis=(1, 2, 3)))
        # 1 as bfloat16.
        assert (numbers(after["soft"]) == 1).all()
        assert after["soft"].shape == (len(after["images"]), 2)


def test_rule_59_floats_in_place_of_the_bits_of_bfloat16_fail_the_stream_by_name(jpegs, batch_module):
    steps = [*STEPS, of_batches(f"{batch_module(WITHOUT_TORCH)}:wrong")]
    with forebay.Loader(jpegs, transform=steps, **GIVEN) as loader, pytest.raises(forebay.Error) as error:
        loader.next()
    words = "its 'images' is float32 [5, 8, 8, 3], but must be uint16 [5, 8, 8, 3]"
    assert words in str(error.value), str(error.value)


WITH_TORCH = """
import torch

def changes(batch):
    for tensor in (batch.images, batch.small, batch.soft):
        assert tensor.dtype == torch.bfloat16
    assert batch.images.shape[1:] == (8, 8, 3)
    batch.mean[...] = batch.images.float().mean(dim=(1, 2, 3)).numpy()
    batch.images.neg_()
    batch.soft.fill_(1)

def returns(batch):
    soft = torch.ones(batch.soft.shape, dtype=torch.bfloat16)
    # One that is not contiguous, and one that has a gradient.
    images = (-batch.images).transpose(1, 2).contiguous().transpose(1, 2)
    return {"images": images, "soft": soft.requires_grad_(), "mean": batch.images.float().mean(dim=(1, 2, 3)).numpy()}
"""
IMPORTS_LATE = """
def changes(batch):
    import torch
    if not torch.is_tensor(batch.images):
        batch.images[...] = 0
        return
    batch.images.neg_()
    batch.soft.fill_(1)
    batch.mean[...] = batch.images.float().mean(dim=(1, 2, 3)).neg().numpy()
"""


@pytest.mark.parametrize(
    ("code", "function"), [(WITH_TORCH, "changes"), (WITH_TORCH, "returns"), (IMPORTS_LATE, "changes")]
)
@pytest.mark.parametrize("workers", [1, 0])
def test_rule_59_with_pytorch_bfloat16_is_a_tensor_of_torch(jpegs, batch_module, code, function, workers):
    pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
    name = batch_module(code)
    step = of_batches(f"{name}:{function}", columns=DECLARED)
    if workers == 0:
        space = {}
        exec(code, space)
        step = of_batches(space[function], columns=DECLARED)
    plain = seen(jpegs, STEPS)
    made = seen(jpegs, [*STEPS, step], python_workers=workers)
    for before, after in zip(plain, made, strict=True):
        assert np.array_equal(after["images"], before["images"] ^ SIGN)
        assert np.array_equal(after["small"], before["small"])
        assert np.allclose(after["mean"], numbers(before["images"]).mean(axis=(1, 2, 3)), atol=1e-5)
        assert (numbers(after["soft"]) == 1).all()
