"""Transforms as the settings that the daemon reads."""

import dataclasses
import doctest
import json
import re
import subprocess

import forebay
import numpy as np
import pytest
from forebay import transforms
from forebay.settings import request
from forebay.transforms import color, geometry, lists, mixes, steps, warps


@pytest.mark.parametrize(
    ("step", "settings"),
    [
        (
            transforms.RandomResizedCrop(224),
            {
                "random_resized_crop": {
                    "size": 224,
                    "scale": [0.08, 1.0],
                    "ratio": [0.75, 1.3333333333333333],
                    "interpolation": "bilinear",
                }
            },
        ),
        (transforms.Resize(256), {"resize": {"size": 256, "interpolation": "bilinear"}}),
        (transforms.Resize((8, 9)), {"resize": {"size": [8, 9], "interpolation": "bilinear"}}),
        (transforms.CenterCrop(224), {"center_crop": {"size": 224}}),
        (transforms.ExpectSize((4, 8)), {"expect_size": {"size": [4, 8]}}),
        (transforms.Pad((8, 9), fill=7), {"pad": {"size": [8, 9], "fill": 7, "padding_mode": "constant"}}),
        (transforms.Pad(8), {"pad": {"size": 8, "fill": 0, "padding_mode": "constant"}}),
        (transforms.RandomHorizontalFlip(), {"random_horizontal_flip": {"p": 0.5}}),
        (transforms.RandomHSV(0.1), {"random_hsv": {"hsv_h": 0.1, "hsv_s": 0.7, "hsv_v": 0.4}}),
        (
            transforms.Mosaic((8, 9), scale=(1, 2)),
            {
                "mosaic": {
                    "size": [8, 9],
                    "scale": [1, 2],
                    "translate": 0.1,
                    "fill": 114,
                    "p": 1.0,
                    "interpolation": "bilinear",
                }
            },
        ),
        (
            transforms.RandomIoUCrop(0.5, sampler_options=(0, 1)),
            {
                "random_iou_crop": {
                    "min_scale": 0.5,
                    "max_scale": 1.0,
                    "min_aspect_ratio": 0.5,
                    "max_aspect_ratio": 2.0,
                    "sampler_options": [0, 1],
                    "trials": 40,
                }
            },
        ),
        (
            transforms.RandomApply([transforms.ColorJitter(0.4, hue=(0, 0.1)), transforms.RandomInvert()]),
            {
                "random_apply": {
                    "transforms": [
                        {"color_jitter": {"brightness": 0.4, "hue": [0, 0.1]}},
                        {"random_invert": {"p": 0.5}},
                    ],
                    "p": 0.5,
                }
            },
        ),
        (
            transforms.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
            {"normalize": {"mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}},
        ),
    ],
)
def test_each_step_is_a_table_with_one_key(step, settings):
    assert step.to_settings() == settings
    assert json.loads(json.dumps(step.to_settings())) == settings


def test_numbers_of_numpy_are_numbers():
    steps = [
        transforms.Resize(np.int64(8)),
        transforms.Pad((np.int32(8), 9)),
        transforms.Normalize(np.ones(3), [1, 1, 1]),
    ]
    settings = request("/pictures", {"batch_size": 4, "transform": steps}, by_name=False).settings
    assert json.loads(settings)["transform"] == [
        {"resize": {"size": 8, "interpolation": "bilinear"}},
        {"pad": {"size": [8, 9], "fill": 0, "padding_mode": "constant"}},
        {"normalize": {"mean": [1.0, 1.0, 1.0], "std": [1, 1, 1]}},
    ]


@pytest.mark.daemon
@pytest.mark.parametrize(
    ("steps", "table"),
    [
        (
            [transforms.RandomResizedCrop(8), transforms.RandomHorizontalFlip()],
            [{"random_resized_crop": {"size": 8}}, {"random_horizontal_flip": {}}],
        ),
        (
            [transforms.Resize(9), transforms.CenterCrop(8), transforms.Pad(10)],
            [{"resize": {"size": 9}}, {"center_crop": {"size": 8}}, {"pad": {"size": 10}}],
        ),
        (
            [
                transforms.RandomResizedCrop(8),
                transforms.RandomApply([transforms.ColorJitter(0.4)]),
                transforms.RandomChoice([transforms.RandomGrayscale(), transforms.RandomPosterize(4)]),
                transforms.RandomOrder([transforms.RandomSolarize(128), transforms.RandomAdjustSharpness(2)]),
                transforms.Grayscale(),
                transforms.RandomInvert(),
                transforms.RandomAutocontrast(),
                transforms.RandomEqualize(),
            ],
            [
                {"random_resized_crop": {"size": 8}},
                {"random_apply": {"transforms": [{"color_jitter": {"brightness": 0.4}}]}},
                {"random_choice": {"transforms": [{"random_grayscale": {}}, {"random_posterize": {"bits": 4}}]}},
                {
                    "random_order": {
                        "transforms": [
                            {"random_solarize": {"threshold": 128}},
                            {"random_adjust_sharpness": {"sharpness_factor": 2}},
                        ]
                    }
                },
                {"grayscale": {}},
                {"random_invert": {}},
                {"random_autocontrast": {}},
                {"random_equalize": {}},
            ],
        ),
    ],
)
def test_rule_26_the_daemon_has_the_same_defaults(pictures, service, steps, table):
    daemon = service(pictures(4), batch_size=4, transform=table)
    with forebay.Loader("stream:train", socket=daemon.socket, transform=steps) as loader:
        assert loader.next().valid == 4
    other = dataclasses.replace(steps[0], interpolation="bicubic")
    with pytest.raises(forebay.SettingsError, match=r"transform: is .*, but the stream has"):
        forebay.Loader("stream:train", socket=daemon.socket, transform=[other, *steps[1:]])


@pytest.mark.daemon
def test_the_package_and_the_daemon_have_the_same_steps_with_the_same_parameters(binary, tmp_path):
    config = tmp_path / "daemon.toml"

    def known(step, key="transform = [{}]"):
        """The words that the daemon knows in the place of `unknown`, from its refusal of this step."""
        config.write_text(f'[streams.train]\nsource = "/pictures"\nbatch_size = 4\n{key.format(step)}\n')
        checked = subprocess.run([binary, "config", "--check", config], check=False, stderr=subprocess.PIPE, text=True)
        return set(re.findall(r"`(\w+)`", re.search(r"`unknown`, (.+)", checked.stderr)[1]))

    daemon = {}
    for key in ("transform = [{}]", "size = 8\nmixing = {}"):
        daemon |= {step: known(f"{{ {step} = {{ unknown = 0 }} }}", key) for step in known("{ unknown = {} }", key)}
    package = {}
    for name in set(transforms.__all__) - {"Compose", "Transform", "functional"}:
        step = getattr(transforms, name)
        any_values = [0] * len(dataclasses.fields(step))
        package |= {key: set(parameters) for key, parameters in step(*any_values).to_settings().items()}
    assert package == daemon


@dataclasses.dataclass
class Halved(transforms.Transform):
    """A user's own step, by `@dataclass`."""

    size: int

    def to_settings(self):
        return transforms.Resize(self.size // 2).to_settings()


class Doubled(transforms.Transform):
    """A user's own step, which sets an attribute."""

    def __init__(self, size):
        self.size = size * 2

    def to_settings(self):
        return transforms.Resize(self.size).to_settings()


class GentleCrop(transforms.RandomResizedCrop):
    """A step with a user's own defaults."""

    def __init__(self, size):
        super().__init__(size, scale=(0.5, 1.0))


@dataclasses.dataclass(frozen=True)
class NotedPad(transforms.Pad):
    """A step with one more field."""

    note: str = "mine"


@pytest.mark.parametrize(
    ("own", "step"),
    [
        (Halved(16), transforms.Resize(8)),
        (Doubled(4), transforms.Resize(8)),
        (GentleCrop(8), transforms.RandomResizedCrop(8, scale=(0.5, 1.0))),
        (NotedPad(8, fill=7), transforms.Pad(8, fill=7)),
    ],
)
def test_a_user_s_subclass_is_the_daemon_s_step(own, step):
    assert own.to_settings() == step.to_settings()
    asked = request("/pictures", {"batch_size": 4, "transform": [own]}, by_name=False)
    assert json.loads(asked.settings)["transform"] == [step.to_settings()]


@dataclasses.dataclass
class Sharpen(transforms.Transform):
    """A step that the daemon does not have."""

    amount: float = 1.0


@pytest.mark.parametrize("own", [transforms.Transform, Sharpen])
def test_a_step_without_settings_is_refused(own):
    with pytest.raises(NotImplementedError, match=f"^{own.__name__} is not a step that the daemon knows"):
        own().to_settings()
    with pytest.raises(NotImplementedError, match="override to_settings"):
        request("/pictures", {"batch_size": 4, "transform": own()}, by_name=False)


MODULES = [color, geometry, lists, mixes, steps, warps, transforms.transform]


def test_every_transform_is_exported():
    found = [found for module in MODULES for found in vars(module).values() if isinstance(found, type)]
    own = {each.__name__ for each in found if issubclass(each, transforms.Transform)}
    assert own == set(transforms.__all__) - {"Compose", "functional"}


def test_the_examples_run():
    for module in [transforms, *MODULES[:-1]]:
        found = doctest.testmod(module)
        assert (found.failed, found.attempted > 2) == (0, True), module.__name__
