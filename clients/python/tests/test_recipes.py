"""Recipes of published training code, as lists of steps."""

import doctest
import inspect
import json

import forebay
import numpy as np
import pytest
from forebay import _native, recipes, transforms

PICTURE = np.random.default_rng(4).integers(0, 256, (90, 120, 3), dtype=np.uint8)

LISTS = {
    "torchvision": recipes.torchvision_train(64),
    "torchvision, all": recipes.torchvision_train(64, auto_augment="imagenet", random_erase_prob=0.5),
    "RandAugment": recipes.torchvision_train(64, auto_augment="ra", interpolation="bicubic"),
    "TrivialAugment": recipes.torchvision_train(64, auto_augment="ta_wide"),
    "AugMix": recipes.torchvision_train(64, auto_augment="augmix"),
    "torchvision, evaluation": recipes.torchvision_eval(64, 70),
    "timm": recipes.timm_train(64),
    "timm, RandAugment": recipes.timm_train(64, auto_augment="rand-m9-mstd0.5-inc1", re_prob=0.25),
    "timm, 3-Augment": recipes.timm_train(64, auto_augment="3a", interpolation="bicubic"),
    "timm, evaluation": recipes.timm_eval(64),
    "SimCLR": recipes.simclr(64)["second"],
    "SimCLR, evaluation": recipes.simclr_eval(64),
    "DINOv2": recipes.dinov2(global_crops_size=64)["images"],
    "DINOv2, second": recipes.dinov2(global_crops_size=64)["global_2"],
    "DINOv2, local": recipes.dinov2(local_crops_size=64)["local_7"],
    "DINOv2, evaluation": recipes.dinov2_eval(64, 70),
}
PARAMETERS = json.loads(_native.recipe_parameters())


@pytest.mark.parametrize("name", LISTS)
def test_each_recipe_gives_normalised_pictures_of_its_size(name):
    steps = transforms.Compose(LISTS[name])
    made = [steps(PICTURE, seed=seed) for seed in range(3)]
    assert all((each.shape, each.dtype.name) == ((64, 64, 3), "float32") for each in made)
    assert all(each.min() > -2.2 and each.max() < 2.7 for each in made)
    assert np.array_equal(made[0], made[1]) == ("evaluation" in name)


def test_a_recipe_s_settings_are_in_its_steps():
    crop, flip, jitter, normalize = recipes.timm_train(96, hflip=0.1, color_jitter=0.2, mean=[0.5] * 3)
    assert [each.interpolation for each in crop.transforms] == ["bilinear", "bicubic"]
    assert (flip.p, jitter.contrast, normalize.mean) == (0.1, 0.2, (0.5, 0.5, 0.5))
    augment = recipes.timm_train(auto_augment="rand-m7", interpolation="bilinear")[2]
    assert augment == transforms.TimmRandAugment("rand-m7", (124, 116, 104), "bilinear")
    # As timm does: 3-Augment keeps the jitter, and RandAugment does not.
    after = [transforms.ColorJitter(0.3, 0.3, 0.3), transforms.Normalize(recipes.MEAN, recipes.STD)]
    assert recipes.timm_train(color_jitter=0.3, auto_augment="3a")[2:] == [transforms.ThreeAugment(), *after]
    assert recipes.timm_train(color_jitter=0.3, auto_augment="rand-m7")[3:] == after[1:]
    assert recipes.timm_eval(288, 0.95)[0] == transforms.Resize(303, "bicubic")
    assert recipes.simclr(224)["images"][4].transforms == [transforms.GaussianBlur(23)]
    crops = recipes.dinov2(local_crops_number=2, global_2_blur=0.9)
    assert list(crops) == ["images", "global_2", "local_0", "local_1"]
    assert (crops["local_0"][0].size, crops["global_2"][4].p) == (96, 0.9)
    assert transforms.RandomSolarize(128, 0.2) in crops["global_2"]
    jitter, pad, middle, square, gains, _ = recipes.yolo(100, scale=0.25, hsv_h=0.1, mosaic=0)
    assert (jitter, pad) == (transforms.ScaleJitter(100, (0.75, 1.25)), transforms.Pad(120, 114))
    assert (middle, gains) == (transforms.CenterCrop(120), transforms.RandomHSV(0.1))
    assert square == transforms.RandomResizedCrop(100, (100 / 120 * (100 / 120),) * 2, (1, 1))
    still = {"scale": 0, "translate": 0, "hsv_h": 0, "hsv_s": 0, "hsv_v": 0, "mosaic": 0}
    assert recipes.yolo(96, **still) == [*recipes.yolo_eval(96), transforms.RandomHorizontalFlip(0.5)]
    assert recipes.yolo(scale=0.25, mosaic=0.9)[0] == transforms.Mosaic(640, (0.75, 1.25), p=0.9)
    assert len(recipes.torchvision_train(hflip_prob=0)) == 2
    with pytest.raises(ValueError, match=r'recipe\.auto_augment: is "all"; give one of "ra", "ta_wide"'):
        recipes.torchvision_train(auto_augment="all")
    with pytest.raises(ValueError, match='is "vit", which is no recipe; give one of torchvision_train, '):
        _native.named_recipe("vit", "{}")


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_functions_have_the_parameters_and_defaults_of_the_daemon_s_recipes(name):
    signature = inspect.signature(getattr(recipes, name)).parameters
    assert set(PARAMETERS) | {"MEAN", "STD"} == set(recipes.__all__)
    assert {key: parameter.default for key, parameter in signature.items()} == {
        key: tuple(default) if isinstance(default, list) else default for key, default in PARAMETERS[name].items()
    }
    made = getattr(recipes, name)()
    views = made if isinstance(made, dict) else {"images": made}
    tables = {view: [step.to_settings() for step in steps] for view, steps in views.items()}
    again = {view: [recipes._step(table).to_settings() for table in tables] for view, tables in tables.items()}
    assert tables == again, "no value is lost on the way to Python and back"


@pytest.mark.parametrize("step", [transforms.RandomHSV(0.1), transforms.RandomIoUCrop(trials=3), transforms.MixUp()])
def test_a_step_is_found_by_the_key_of_its_table(step):
    assert recipes._step(step.to_settings()) == step


@pytest.mark.daemon
def test_a_loader_with_a_recipe_s_name_gives_the_pixels_of_its_lists(jpegs):
    given = {"local_crops_number": 2, "global_crops_size": 24, "local_crops_size": 12, "mean": (0.5, 0.5, 0.5)}
    crops = recipes.dinov2(**given)
    lists = {"transform": crops.pop("images"), "views": crops, "dtype": "float32"}
    same = {"batch_size": 4, "shuffle": True, "seed": 3, "epochs": 1}
    with forebay.Loader(jpegs, recipe={"name": "dinov2", **given}, **same) as by_name:
        named = [[np.array(batch[view]) for view in ("images", *crops)] for batch in by_name]
    with forebay.Loader(jpegs, **lists, **same) as by_lists:
        listed = [[np.array(batch[view]) for view in ("images", *crops)] for batch in by_lists]
    assert len(named) > 1
    assert named[0][0].dtype == np.float32
    for views, others in zip(named, listed):
        assert all(np.array_equal(one, other) for one, other in zip(views, others))
    with pytest.raises(forebay.SettingsError, match=r"recipe\.sizes: is not a parameter of simclr"):
        forebay.Loader(jpegs, recipe={"name": "simclr", "sizes": 24}, **same)


def test_the_examples_run():
    found = doctest.testmod(recipes)
    assert (found.failed, found.attempted > 2) == (0, True)
