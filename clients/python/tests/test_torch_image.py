"""Steps on tensors, and ImageFolder in a DataLoader. Skipped if PyTorch is not installed."""

import forebay
import numpy as np
import pytest
from forebay import transforms

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")

STEPS = [transforms.RandomResizedCrop(6), transforms.RandomHorizontalFlip(), transforms.ColorJitter(0.5)]


def test_a_tensor_gives_a_tensor_with_the_pixels_of_the_array():
    pixels = np.random.default_rng(1).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    tensor = torch.from_numpy(pixels).permute(2, 0, 1)
    for steps in (transforms.Compose(STEPS), STEPS[0]):
        made = steps(tensor, seed=3)
        assert made.shape == (3, 6, 6)
        assert made.is_contiguous()
        assert np.array_equal(made.permute(1, 2, 0).numpy(), steps(pixels, seed=3))
    normal = transforms.Normalize([0.5] * 3, [0.5] * 3)(tensor)
    assert torch.allclose(normal, tensor / 127.5 - 1)


def test_normalize_has_every_bit_of_torchvision_s_to_tensor_and_is_near_its_to_dtype():
    v1 = pytest.importorskip("torchvision", reason="torchvision is not installed").transforms
    from torchvision.transforms import v2

    pixels = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    tensor = torch.from_numpy(pixels).permute(2, 0, 1)
    for mean, std in (
        ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]),
        ([0.5, 0.1, 0.9], [0.3, 1.7, 0.01]),
    ):
        found = torch.as_tensor(transforms.Normalize(mean, std)(tensor))
        for exact in (
            v1.Compose([v1.ToTensor(), v1.Normalize(mean, std)])(pixels),
            v1.Compose([v1.ConvertImageDtype(torch.float32), v1.Normalize(mean, std)])(tensor),
        ):
            assert torch.equal(found.view(torch.int32), exact.contiguous().view(torch.int32))
        multiplied = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)])(tensor)
        # It multiplies by 1 / 255: a unit in the last place, divided by the deviation.
        assert ((found - multiplied).abs() <= 2**-23 / torch.tensor(std).view(3, 1, 1) + 1e-6).all()


@pytest.mark.parametrize("wrong", [(3, 4, 5, 6), (4, 8, 8), (8, 8, 3)])
def test_other_tensors_are_refused(wrong):
    with pytest.raises(ValueError, match="uint8 tensor of 3 x height x width"):
        STEPS[0](torch.zeros(wrong, dtype=torch.uint8))
    with pytest.raises(ValueError, match=r"not torch.float32"):
        STEPS[0](torch.zeros((3, 8, 8)))


@pytest.mark.parametrize(("workers", "context"), [(0, None), (2, "fork"), (2, "spawn")])
def test_workers_of_a_data_loader_give_the_pixels_of_the_seed(pictures, workers, context):
    folder = forebay.ImageFolder(pictures(8, classes=2), STEPS, seed=4)
    for epoch in range(2):
        folder.set_epoch(epoch)
        loader = torch.utils.data.DataLoader(folder, 4, num_workers=workers, multiprocessing_context=context)
        images = torch.cat([images for images, _ in loader])
        expected = np.stack([folder[index][0] for index in range(8)])
        assert np.array_equal(images.numpy(), expected)


def test_workers_without_a_seed_differ_and_follow_torch_s(pictures):
    folder = forebay.ImageFolder(pictures(8), transforms.ColorJitter(0.9))

    def run():
        torch.manual_seed(5)
        loader = torch.utils.data.DataLoader(folder, 4, num_workers=2)
        return torch.cat([images for images, _ in loader])

    assert torch.equal(run(), run())
