"""Transforms as the settings that the daemon reads."""

import doctest
import inspect
import json

import pytest
from forebay import transforms


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
        (transforms.Pad((8, 9), fill=7), {"pad": {"size": [8, 9], "fill": 7}}),
        (transforms.Pad(8), {"pad": {"size": 8, "fill": 0}}),
        (transforms.RandomHorizontalFlip(), {"random_horizontal_flip": {"p": 0.5}}),
        (
            transforms.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
            {"normalize": {"mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}},
        ),
    ],
)
def test_each_step_is_a_table_with_one_key(step, settings):
    assert step.to_settings() == settings
    assert json.loads(json.dumps(step.to_settings())) == settings


def test_every_transform_is_exported():
    classes = inspect.getmembers(transforms, inspect.isclass)
    own = {name for name, found in classes if found.__module__ == transforms.__name__}
    assert own <= set(transforms.__all__)


def test_the_examples_run():
    found = doctest.testmod(transforms)
    assert (found.failed, found.attempted > 5) == (0, True)
