"""Transforms of torchvision as steps of the daemon. Skipped if PyTorch or torchvision is not installed."""

import forebay
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from forebay.torch.translation import translated  # noqa: E402 - it imports PyTorch
from torchvision import transforms as v1  # noqa: E402 - after it was looked whether it is there
from torchvision.transforms import v2  # noqa: E402 - the same

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
TRAINING = v1.Compose([v1.RandomResizedCrop(32), v1.RandomHorizontalFlip(), v1.ToTensor(), v1.Normalize(MEAN, STD)])


def test_transforms_of_torchvision_are_steps_of_the_daemon():
    normalize = forebay.transforms.Normalize(MEAN, STD)
    fixed = {"layout": "NCHW", "adjust_orientation": False}
    crop = forebay.transforms.RandomResizedCrop((32, 32))
    steps = [crop, forebay.transforms.RandomHorizontalFlip(0.5), normalize]
    assert translated(TRAINING) == {"transform": steps, "dtype": "float32", "match": "pillow", **fixed}
    newer = v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop(32, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.bfloat16, scale=True),
            v2.Normalize(MEAN, STD),
        ]
    )
    assert translated(newer) == {"transform": steps, "dtype": "bfloat16", "match": "torch", **fixed}
    reference = v1.Compose(
        [
            v1.Resize(256, v1.InterpolationMode.LANCZOS),
            v1.CenterCrop([224]),
            v1.PILToTensor(),
            v1.ConvertImageDtype(torch.float32),
        ]
    )
    steps = [forebay.transforms.Resize(256, "lanczos3"), forebay.transforms.CenterCrop((224, 224))]
    assert translated(reference)["transform"] == steps
    simclr = v1.Compose([v1.RandomApply([v1.ColorJitter(0.4, hue=0.1)], p=0.8), v1.RandomGrayscale(0.2), v1.ToTensor()])
    jitter = forebay.transforms.ColorJitter(brightness=(0.6, 1.4), hue=(-0.1, 0.1))
    chosen = [forebay.transforms.RandomApply([jitter], 0.8), forebay.transforms.RandomGrayscale(0.2)]
    assert translated(simclr)["transform"] == chosen
    from torchvision.transforms._presets import ImageClassification

    preset = translated(ImageClassification(crop_size=224))
    steps = [forebay.transforms.Resize(256), forebay.transforms.CenterCrop((224, 224)), normalize]
    assert (preset["transform"], preset["dtype"]) == (steps, "float32")
    assert translated(steps) == {"transform": steps}


@pytest.mark.parametrize(
    ("transform", "way_out"),
    [
        ([v1.Resize((8, 8))], "end it with ToTensor"),
        ([v1.ToTensor(), v1.Resize((8, 8))], "put it before"),
        ([v1.PILToTensor(), v1.Normalize(MEAN, STD)], "Normalize needs floats"),
        ([v1.ToTensor(), v1.ColorJitter()], "put it before"),
        ([v1.FiveCrop(3), v1.ToTensor()], "in your loop"),
        ([v1.RandomApply([v1.FiveCrop(3)]), v1.ToTensor()], "RandomApply has FiveCrop"),
        ([v1.Lambda(abs), v1.ToTensor()], "runs no Python"),
        ([abs, v1.ToTensor()], "runs no Python"),
        ([v1.ToTensor(), v1.Normalize(MEAN, STD), v1.CenterCrop(4)], "must be the last step"),
        ([v1.Resize(8, max_size=9), v1.ToTensor()], "give size alone"),
        ([v2.ToImage(), v2.ToDtype(torch.float32)], "scale=True"),
        ([v1.PILToTensor(), v1.ConvertImageDtype(torch.int16)], "a float type"),
        ([v1.ConvertImageDtype(torch.float32)], "put PILToTensor"),
        ([v1.PILToTensor(), v1.Resize((8, 8), antialias=False)], "give it antialias=True"),
        ([v2.ToImage(), v2.RandomResizedCrop(8, antialias=None)], "give it antialias=True"),
    ],
)
def test_transforms_that_the_daemon_does_not_know_are_refused_with_the_way_out(transform, way_out):
    with pytest.raises(forebay.SettingsError, match=way_out):
        translated(v1.Compose(transform))


def test_antialias_counts_for_tensors_only_and_where_there_is_a_filter():
    translated(v1.Compose([v1.Resize((8, 8), antialias=False), v1.PILToTensor()]))
    nearest = v2.Resize((8, 8), v2.InterpolationMode.NEAREST, antialias=False)
    assert translated(v2.Compose([v2.ToImage(), nearest]))["match"] == "torch"


def test_a_flip_behind_normalize_is_done_before_it():
    steps = translated(v1.Compose([v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomHorizontalFlip(0.3)]))["transform"]
    assert steps == [forebay.transforms.RandomHorizontalFlip(0.3), forebay.transforms.Normalize(MEAN, STD)]


class Halved:
    """A user's own list, which leaves out steps."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for step in self.transforms[::2]:
            img = step(img)
        return img


class Copied:
    """The loop of `Compose`, with other names, as many training scripts have it."""

    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, picture):
        for each in self.steps:
            picture = each(picture)
        return picture


class Backwards(torch.nn.Sequential):
    """Its last step comes first."""

    def forward(self, img):
        for step in reversed(self):
            img = step(img)
        return img


class Doubled(torch.nn.Sequential):
    """Each step comes twice."""

    def __iter__(self):
        return iter([*self._modules.values()] * 2)


class Named(torch.nn.Sequential):
    """Only its list is its own."""

    def __init__(self, size):
        super().__init__(v1.Resize((size, size)), v1.RandomVerticalFlip())


class ComposeOfTheFirst(v2.Compose):
    """All steps but the first are left out."""

    def forward(self, img):
        return self.transforms[0](img)


def hooked():
    module = torch.nn.Sequential(v1.Resize((9, 7)))
    module.register_forward_hook(lambda _module, _inputs, picture: picture)
    return module


def replaced():
    module = torch.nn.Sequential(v1.Resize((9, 7)))
    module.forward = lambda picture: picture
    return module


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        *[
            (type(name, (Halved,), {})([v1.Resize((9, 7)), v1.RandomInvert(), v1.ToTensor()]), name)
            for name in ("Compose", "Sequential", "TwoCrops")
        ],
        (Backwards(v1.Resize((9, 7)), v1.RandomInvert()), "Backwards"),
        (Doubled(v1.Resize((9, 7))), "Doubled"),
        (ComposeOfTheFirst([v1.Resize((9, 7)), v1.RandomInvert()]), "ComposeOfTheFirst"),
        (hooked(), "Sequential"),
        (replaced(), "Sequential"),
    ],
)
def test_a_class_that_does_more_than_call_a_list_is_refused_by_its_name(transform, name):
    for whole in (transform, v1.Compose([transform, v1.ToTensor()]), v2.Compose([transform, v2.ToTensor()])):
        with pytest.raises(forebay.SettingsError, match=rf"\.{name} is none that the daemon knows"):
            translated(whole)


def test_a_list_is_known_by_its_call_whatever_its_class_is_called():
    resize = forebay.transforms.Resize((6, 6))
    flip = forebay.transforms.RandomVerticalFlip(0.5)
    inherited = type("Train", (v1.Compose,), {})
    for whole in (
        Copied(v1.Resize((6, 6)), v1.RandomVerticalFlip(), v1.ToTensor()),
        v1.Compose([Named(6), v1.ToTensor()]),
        inherited([torch.nn.Sequential(v1.Resize((6, 6))), v1.RandomVerticalFlip(), v1.ToTensor()]),
        v2.Compose([v2.Compose([v2.Resize((6, 6))]), v2.RandomVerticalFlip(), v2.PILToTensor()]),
    ):
        assert translated(whole)["transform"] == [resize, flip]
