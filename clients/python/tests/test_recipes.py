"""Recipes of published training code, as lists of steps."""

import doctest

import numpy as np
import pytest
from forebay import recipes, transforms

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
    "SimCLR": recipes.simclr(64),
    "DINOv2": recipes.dinov2("global_1", 64),
    "DINOv2, second": recipes.dinov2("global_2", 64),
}


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
    assert recipes.simclr(224)[4].transforms == [transforms.GaussianBlur(23)]
    assert recipes.dinov2("local")[0].size == 96
    assert transforms.RandomSolarize(128, 0.2) in recipes.dinov2("global_2")
    assert len(recipes.torchvision_train(hflip_prob=0)) == 2
    with pytest.raises(ValueError, match="'global' is not one of global_1, global_2, local"):
        recipes.dinov2("global")


def test_the_examples_run():
    found = doctest.testmod(recipes)
    assert (found.failed, found.attempted > 2) == (0, True)
