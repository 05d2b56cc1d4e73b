"""Transforms as the settings that the daemon reads."""

import dataclasses
import doctest
import inspect
import json

import forebay
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
    ],
)
def test_rule_26_the_daemon_has_the_same_defaults(pictures, service, steps, table):
    daemon = service(pictures(4), batch_size=4, transform=table)
    with forebay.Loader("stream:train", socket=daemon.socket, transform=steps) as loader:
        assert loader.next().valid == 4
    other = dataclasses.replace(steps[0], interpolation="bicubic")
    with pytest.raises(forebay.SettingsError, match=r"transform: is .*, but the stream has"):
        forebay.Loader("stream:train", socket=daemon.socket, transform=[other, *steps[1:]])


def test_every_transform_is_exported():
    classes = inspect.getmembers(transforms, inspect.isclass)
    own = {name for name, found in classes if found.__module__ == transforms.__name__}
    assert own <= set(transforms.__all__)


def test_the_examples_run():
    found = doctest.testmod(transforms)
    assert (found.failed, found.attempted > 5) == (0, True)
