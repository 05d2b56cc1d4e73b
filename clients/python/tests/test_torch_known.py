"""What torchvision's transforms become, and whether the results are its own. Skipped without PyTorch or torchvision."""

import functools

import forebay
import numpy as np
import pytest
from forebay import transforms as ours
from PIL import Image

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from forebay.torch.known import STEPS  # noqa: E402 - it imports PyTorch
from forebay.torch.translation import translated  # noqa: E402 - the same
from torchvision import transforms as v1  # noqa: E402 - after it was looked whether it is there
from torchvision.transforms import v2  # noqa: E402 - the same

MEAN, STD = [0.5, 0.4, 0.3], [0.2, 0.25, 0.3]
BILINEAR = v1.InterpolationMode.BILINEAR
# Each with its arguments, which both versions of torchvision take, and what it becomes.
BOTH = {
    "RandomResizedCrop": ((32,), {"scale": (0.2, 1.0)}, ours.RandomResizedCrop((32, 32), (0.2, 1.0))),
    "Resize": (((30, 40),), {}, ours.Resize((30, 40))),
    "CenterCrop": ((17,), {}, ours.CenterCrop((17, 17))),
    "RandomCrop": ((32,), {"padding": 4, "fill": (1, 2, 3)}, ours.RandomCrop((32, 32), 4, fill=(1, 2, 3))),
    "Pad": (([2, 5],), {"padding_mode": "reflect"}, ours.PadBy((2, 5), padding_mode="reflect")),
    "ColorJitter": ((), {"brightness": 0.4}, ours.ColorJitter(brightness=(0.6, 1.4))),
    "Grayscale": ((3,), {}, ours.Grayscale(3)),
    "RandomGrayscale": ((0.3,), {}, ours.RandomGrayscale(0.3)),
    "RandomAdjustSharpness": ((2.0, 0.3), {}, ours.RandomAdjustSharpness(2.0, 0.3)),
    "RandomSolarize": ((100, 0.3), {}, ours.RandomSolarize(100, 0.3)),
    "RandomPosterize": ((4, 0.3), {}, ours.RandomPosterize(4, 0.3)),
    "RandomAutocontrast": ((0.3,), {}, ours.RandomAutocontrast(0.3)),
    "RandomEqualize": ((0.3,), {}, ours.RandomEqualize(0.3)),
    "RandomInvert": ((0.3,), {}, ours.RandomInvert(0.3)),
    "GaussianBlur": ((5, (0.3, 1.5)), {}, ours.GaussianBlur((5, 5), (0.3, 1.5))),
    "RandomRotation": (
        (15,),
        {"interpolation": BILINEAR, "expand": True, "center": [3, 4], "fill": 7},
        ours.RandomRotation((-15.0, 15.0), "bilinear", expand=True, center=(3.0, 4.0), fill=7),
    ),
    "RandomAffine": (
        (10,),
        {"translate": (0.1, 0.2), "scale": (0.8, 1.2), "shear": 5},
        ours.RandomAffine((-10.0, 10.0), (0.1, 0.2), (0.8, 1.2), (-5.0, 5.0)),
    ),
    "RandomPerspective": ((0.3, 0.7), {}, ours.RandomPerspective(0.3, 0.7)),
    "AutoAugment": ((v1.AutoAugmentPolicy.SVHN,), {}, ours.AutoAugment("svhn")),
    "RandAugment": ((3, 5, 30), {"fill": [9.0]}, ours.RandAugment(3, 5, 30, fill=9.0)),
    "TrivialAugmentWide": ((20,), {"interpolation": BILINEAR}, ours.TrivialAugmentWide(20, "bilinear")),
    "AugMix": ((4, 2), {}, ours.AugMix(4, 2)),
    "RandomHorizontalFlip": ((0.3,), {}, ours.RandomHorizontalFlip(0.3)),
    "RandomVerticalFlip": ((0.3,), {}, ours.RandomVerticalFlip(0.3)),
}
NEWER = {
    "ScaleJitter": (((100, 90),), {"scale_range": (0.5, 1.5)}, ours.ScaleJitter((100, 90), (0.5, 1.5))),
    "RandomShortestSize": (([40, 50],), {"max_size": 90}, ours.RandomShortestSize((40, 50), 90)),
    "RandomZoomOut": ((), {"fill": 5, "side_range": (1.0, 2.0), "p": 0.3}, ours.RandomZoomOut(5, (1.0, 2.0), 0.3)),
    "RandomIoUCrop": (
        (0.4,),
        {"trials": 9},
        ours.RandomIoUCrop(0.4, sampler_options=(0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0), trials=9),
    ),
}
# After the conversion to tensors, or with it.
LATER = {"Normalize", "RandomErasing"}


def steps(*transform):
    return translated(v1.Compose(list(transform)))["transform"]


def test_all_that_the_daemon_has_are_among_the_cases():
    assert {*BOTH, *NEWER, *LATER} == set(STEPS)
    lists = {"RandomApply", "RandomChoice", "RandomOrder"}
    named = {name for name in ours.__all__ if hasattr(v1, name) or hasattr(v2, name)}
    # The first three are no steps. Mixing is a setting of the Loader.
    assert named - {"Compose", "Transform", "functional", "MixUp", "CutMix"} == {*STEPS, *lists}


@pytest.mark.parametrize("name", [*BOTH, *NEWER])
def test_each_transform_becomes_the_one_of_the_same_meaning(name):
    arguments, named, expected = {**BOTH, **NEWER}[name]
    for module, end in ((v1, v1.PILToTensor()), (v2, v2.PILToTensor())):
        if hasattr(module, name):
            found = translated(module.Compose([getattr(module, name)(*arguments, **named), end]))
            assert found["transform"] == [expected]
            assert found["match"] == "pillow"
            assert expected.to_settings(), "it is one that the daemon takes"


def test_an_erased_rectangle_has_the_value_of_its_place_in_the_list():
    assert steps(v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomErasing(0.3, value="random")) == [
        ours.Normalize(MEAN, STD),
        ours.RandomErasing(0.3, value="random"),
    ]
    assert steps(v1.ToTensor(), v1.RandomErasing(value=(0.2, 1.0, 0.0)), v1.Normalize(MEAN, STD)) == [
        ours.RandomErasing(value=(51, 255, 0)),
        ours.Normalize(MEAN, STD),
    ]
    assert steps(v1.PILToTensor(), v1.RandomErasing(value=9)) == [ours.RandomErasing(value=9)]
    newer = v2.Compose(
        [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD), v2.RandomErasing()]
    )
    assert translated(newer)["transform"][1] == ours.RandomErasing(value=0.0)
    flipped = steps(v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomErasing(), v1.RandomVerticalFlip())
    assert [type(step) for step in flipped] == [ours.RandomVerticalFlip, ours.Normalize, ours.RandomErasing]
    # Floats from 0 to 1 are an eighth bit's neighbours.
    assert steps(v1.ToTensor(), v1.Pad(3, fill=0.5)) == [ours.PadBy(3, fill=128)]


def test_borders_of_borders_are_those_of_the_older_class():
    older = v1.RandomCrop((20, 24), padding=[3], pad_if_needed=True, padding_mode="reflect")
    border = {"fill": 0, "padding_mode": "reflect"}
    twice = [ours.PadBy(3, **border), ours.RandomCrop((20, 24), pad_if_needed=True, **border)]
    assert steps(older, v1.PILToTensor()) == twice
    newer = v2.RandomCrop((20, 24), padding=[1, 2, 3, 4], pad_if_needed=True)
    assert steps(newer, v2.PILToTensor()) == [ours.RandomCrop((20, 24), (1, 2, 3, 4), pad_if_needed=True)]


def test_lists_by_chance_have_all_of_them_and_several_in_one():
    inner = v1.Compose([v1.RandomVerticalFlip(1.0), v1.GaussianBlur(3)])
    chosen = steps(v1.RandomChoice([inner, v1.Pad(2)]), v1.PILToTensor())
    both = ours.RandomApply([ours.RandomVerticalFlip(1.0), ours.GaussianBlur((3, 3), (0.1, 2.0))], 1.0)
    assert chosen == [ours.RandomChoice([both, ours.PadBy(2)])]
    nested = steps(v1.RandomApply([v1.RandomOrder([v1.RandAugment(), v1.RandomRotation(5)])], 0.4), v1.PILToTensor())
    assert nested == [ours.RandomApply([ours.RandomOrder([ours.RandAugment(), ours.RandomRotation((-5.0, 5.0))])], 0.4)]


class Preset:
    """As torchvision's reference scripts have them."""

    def __init__(self, chain):
        self.transforms = chain

    def __call__(self, img):
        return self.transforms(img)


class Module(torch.nn.Module):
    """The same as a module, with another name and a text of documentation."""

    def __init__(self, chain):
        super().__init__()
        self.chain = chain

    def forward(self, picture):
        """What the chain makes of it."""
        return self.chain(picture)


class Changing(Preset):
    """This one does something else too."""

    def __call__(self, img):
        return self.transforms(img) + 1


def test_what_only_calls_a_compose_is_that_compose():
    chain = v1.Compose([v1.RandomCrop(32, 4), v1.ToTensor(), v1.Normalize(MEAN, STD)])
    for wrapped in (Preset(chain), Module(chain), Preset(Module(chain)), v1.Compose([Preset(chain)])):
        assert translated(wrapped) == translated(chain)
    with pytest.raises(forebay.SettingsError, match="runs no Python"):
        translated(Changing(chain))
    with pytest.raises(forebay.SettingsError, match="runs no Python"):
        translated(functools.partial(chain))


def test_the_presets_of_weights_are_taken_as_they_are():
    from torchvision.transforms import _presets

    normalize = ours.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    found = translated(_presets.ImageClassification(crop_size=24, resize_size=32, interpolation=BILINEAR))
    assert found["transform"] == [ours.Resize(32), ours.CenterCrop((24, 24)), normalize]
    assert translated(_presets.SemanticSegmentation(resize_size=32))["transform"] == [ours.Resize(32), normalize]
    assert translated(_presets.ObjectDetection()) == {
        "transform": [],
        "dtype": "float32",
        "layout": "NCHW",
        "adjust_orientation": False,
        "match": "pillow",
    }
    for preset in (_presets.OpticalFlow(), _presets.VideoClassification(crop_size=(8, 8), resize_size=(9,))):
        with pytest.raises(forebay.SettingsError, match=type(preset).__name__):
            translated(preset)


@pytest.mark.parametrize(
    ("transform", "way_out"),
    [
        ([v1.ToTensor(), v1.GaussianBlur(3)], "put it before"),
        ([v1.ToTensor(), v1.RandomApply([v1.RandomRotation(4)])], "put it before"),
        ([v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomApply([v1.RandomErasing()])], "probability of its own"),
        ([v1.ToTensor(), v1.RandomErasing(value="random")], "needs Normalize before it"),
        ([v1.RandomApply([v1.RandomErasing()]), v1.ToTensor()], "takes tensors"),
        ([v2.Pad(2, fill={torch.Tensor: 3}), v2.PILToTensor()], "one fill for each kind"),
        ([v1.RandomApply([v1.ToTensor()])], "RandomApply has ToTensor"),
        ([v2.ElasticTransform(), v2.PILToTensor()], "runs no Python"),
    ],
)
def test_what_cannot_be_at_its_place_is_refused_with_the_way_out(transform, way_out):
    with pytest.raises(forebay.SettingsError, match=way_out):
        translated(v1.Compose(transform))


def picture(height, width):
    numbers = np.arange(height * width * 3, dtype=np.uint32)
    return (numbers * 7919 % 256).astype(np.uint8).reshape(height, width, 3)


@pytest.mark.parametrize("module", [v1, v2], ids=["v1", "v2"])
@pytest.mark.parametrize(
    "named",
    [
        {"size": (6, 9)},
        {"size": (6, 9), "padding": [2, 3]},
        {"size": (9, 12), "padding": 1, "pad_if_needed": True, "fill": (9, 8, 7)},
        {"size": (14, 13), "pad_if_needed": True, "padding_mode": "edge"},
        {"size": (10, 13), "padding": [1, 0, 2, 3], "padding_mode": "symmetric"},
        {"size": (12, 17), "padding": [1, 2, 3, 1], "pad_if_needed": True, "padding_mode": "reflect"},
    ],
    ids=str,
)
def test_random_crops_are_those_that_torchvision_can_give_and_all_of_them(module, named):
    source = picture(8, 11)
    transform = module.RandomCrop(**named)
    (*before, crop) = steps(transform, module.PILToTensor())
    ready = source
    for step in before:
        ready = step(ready)
    torch.manual_seed(0)
    theirs = {np.asarray(transform(Image.fromarray(source))).tobytes() for _ in range(1500)}
    mine = {np.ascontiguousarray(crop(ready, seed=3, record=record)).tobytes() for record in range(1500)}
    assert mine == theirs


def test_a_vertical_flip_and_borders_are_torchvisions_with_either_face():
    for height, width in ((1, 1), (7, 12), (30, 5)):
        source = picture(height, width)
        for fill in (3, (200, 0, 17)):
            expected = np.asarray(v2.functional.pad(Image.fromarray(source), [2, 1, 4, 3], fill=fill))
            assert np.array_equal(ours.functional.pad(source, (2, 1, 4, 3), fill), expected)
        for match in ("pillow", "torch"):
            tensor = torch.from_numpy(source).permute(2, 0, 1)
            expected = v2.functional.vertical_flip(tensor).permute(1, 2, 0).numpy()
            assert np.array_equal(ours.functional.vertical_flip(source, match=match), expected)
            assert np.array_equal(ours.RandomVerticalFlip(1.0)(source, seed=1, match=match), expected)
