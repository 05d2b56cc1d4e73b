"""Where a list of transforms has no function in Python (semantics rule 59)."""

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

BEFORE = [transforms.RandomResizedCrop(16), transforms.RandomHorizontalFlip()]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([transforms.Resize(20), transforms.Python("a:b")], "or `output` of a function in Python"),
        (
            [transforms.CenterCrop(8), transforms.RandomOrder([transforms.Python("a:b"), transforms.RandomCrop(4)])],
            "it has python in it, so none of its transforms may change the size of pictures, as random_crop does",
        ),
        (
            [transforms.CenterCrop(8), transforms.RandomOrder([transforms.Python("a:b", output=4)])],
            "none of its transforms may change the size of pictures, as python does",
        ),
        ([transforms.RandomApply([transforms.Python("a:b", output=8)])], "pictures of different sizes"),
        ([transforms.Mosaic(16), transforms.Python("a:b")], "cannot follow mosaic"),
        ([*BEFORE, transforms.Normalize([0.0] * 3, [1.0] * 3), transforms.Python("a:b")], "must be the last"),
        ([*BEFORE, transforms.Python("augment")], 'must be "module:name"'),
        ([*BEFORE, transforms.Python("a:b", output=0)], "output is 0 x 0"),
    ],
)
def test_a_place_or_a_value_that_a_function_cannot_have_is_refused_by_name(jpegs, steps, words):
    with pytest.raises(forebay.SettingsError) as error:
        forebay.Loader(jpegs, batch_size=4, transform=steps, dtype="float32")
    assert words in str(error.value), str(error.value)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("scope", ["picture", "batch"])
def test_rule_59_a_stream_whose_pixels_are_in_a_gpu_has_no_function(pictures, scope):
    steps = [transforms.CenterCrop(8), transforms.Python("a:b", scope=scope)]
    with pytest.raises(forebay.SettingsError, match="the function a:b runs on the CPU") as error:
        forebay.Loader(pictures(8), batch_size=4, transform=steps, placement="gpu:0")
    assert 'placement = "host"' in str(error.value)


def test_a_function_is_called_by_a_loader_alone():
    step = transforms.Python("my_steps:augment")
    with pytest.raises(ValueError, match="only a Loader can carry it out"):
        transforms.Compose([*BEFORE, transforms.RandomApply([step])])
    with pytest.raises(ValueError, match="only a Loader can carry it out"):
        step(np.zeros((4, 4, 3), np.uint8))


def test_a_process_that_calls_functions_has_no_loader(jpegs, monkeypatch):
    monkeypatch.setenv("FOREBAY_CHILD", "1")
    with pytest.raises(forebay.AttachError, match='below `if __name__ == "__main__":`'):
        forebay.Loader(jpegs, batch_size=4, size=8)
