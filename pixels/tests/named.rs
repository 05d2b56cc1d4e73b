//! Named recipes: what lists they stand for, and what is refused.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::document::{Mistake, NAMED, NamedLists, named, named_views, read};
use forebay_pixels::{Annotated, Draw, Orientation, Origin, Plan, Recipe, Step};
use serde_json::{Map, Value, json};

fn lists(value: impl Into<Value>) -> NamedLists {
    named(&value.into()).unwrap()
}

fn mistakes(value: impl Into<Value>) -> Vec<Mistake> {
    named(&value.into()).unwrap_err()
}

/// The names of a list's transforms.
fn steps(list: &[Value]) -> Vec<&str> {
    list.iter().map(|step| step.as_object().unwrap().keys().next().unwrap().as_str()).collect()
}

fn recipe(value: Value) -> (Recipe, Map<String, Value>) {
    let values = Map::from_iter([("recipe".to_owned(), value)]);
    (read(&values, false).unwrap(), values)
}

#[test]
fn every_recipe_can_be_carried_out_in_all_its_views() {
    for each in NAMED {
        let (first, values) = recipe(each.name.into());
        let views = named_views(&values, &first).unwrap();
        assert_eq!(views.len(), lists(each.name).views.len(), "{}", each.name);
        for recipe in views.iter().map(|view| &view.recipe).chain([&first]) {
            let plan = recipe.plan(500, 375, Draw { seed: 1, epoch: 2, record: 3 });
            assert_eq!((plan.height, plan.width, 3), recipe.shape(), "{}", each.name);
        }
    }
}

#[test]
fn the_parameters_are_those_of_the_published_code_and_may_be_given_as_they_are() {
    for each in NAMED {
        let parameters = each.parameters();
        assert_eq!(each.lists(&parameters), each.lists(&Map::new()), "{}", each.name);
        for (name, default) in &parameters {
            let wrong = Map::from_iter([(name.clone(), json!("no such thing"))]);
            // timm's texts are read with the transforms.
            if (each.name, name.as_str()) != ("timm_train", "auto_augment") {
                let mistakes = each.lists(&wrong).unwrap_err();
                assert_eq!(mistakes.len(), 1, "{} {name} = {default}", each.name);
                assert_eq!(mistakes[0].key, format!("recipe.{name}"));
            }
        }
    }
    let timm = NAMED.iter().find(|each| each.name == "timm_train").unwrap().parameters();
    let names = "size scale ratio hflip color_jitter auto_augment interpolation re_prob mean std";
    assert_eq!(timm.keys().collect::<Vec<_>>(), names.split(' ').collect::<Vec<_>>());
    assert_eq!((&timm["color_jitter"], &timm["auto_augment"]), (&json!(0.4), &Value::Null));
}

#[test]
fn torchvision_s_policies_each_have_their_transform() {
    for (policy, step) in [
        ("ra", json!({ "rand_augment": { "magnitude": 7, "interpolation": "bilinear" } })),
        ("ta_wide", json!({ "trivial_augment_wide": { "interpolation": "bilinear" } })),
        ("augmix", json!({ "aug_mix": { "severity": 4, "interpolation": "bilinear" } })),
        ("svhn", json!({ "auto_augment": { "policy": "svhn", "interpolation": "bilinear" } })),
    ] {
        let made = lists(json!({
            "name": "torchvision_train", "auto_augment": policy, "ra_magnitude": 7, "augmix_severity": 4,
            "random_erase_prob": 0.1,
        }));
        let [crop, flip, augment, _, erase] = &made.images[..] else { unreachable!("{made:?}") };
        assert_eq!(crop, &json!({ "random_resized_crop": { "size": 224, "interpolation": "bilinear" } }));
        assert_eq!((flip, augment), (&json!({ "random_horizontal_flip": { "p": 0.5 } }), &step));
        assert_eq!(erase, &json!({ "random_erasing": { "p": 0.1 } }));
    }
    let plain = lists(json!({ "name": "torchvision_train", "hflip_prob": 0 }));
    assert_eq!(steps(&plain.images), ["random_resized_crop", "normalize"]);
}

#[test]
fn timm_s_jitter_gives_way_to_its_augmentation_but_not_to_3_augment() {
    let with = |augment: Value| lists(json!({ "name": "timm_train", "auto_augment": augment, "re_prob": 0.25 })).images;
    let [first, last] = [["random_choice", "random_horizontal_flip"], ["normalize", "random_erasing"]];
    for (augment, between) in [
        (Value::Null, vec!["color_jitter"]),
        (json!("3a"), vec!["three_augment", "color_jitter"]),
        (json!("rand-m9-mstd0.5-inc1"), vec!["timm_rand_augment"]),
    ] {
        assert_eq!(steps(&with(augment)), [&first[..], &between, &last].concat());
    }
    let augment = json!({ "timm_rand_augment": { "config": "rand-m9", "fill": [124, 116, 104] } });
    assert_eq!(with(json!("rand-m9"))[2], augment, "moved pixels leave the mean behind");
    let evaluation = lists(json!({ "name": "timm_eval", "size": 288, "crop_pct": 0.95 }));
    assert_eq!(evaluation.images[0], json!({ "resize": { "size": 303, "interpolation": "bicubic" } }));
}

#[test]
fn dinov2_has_two_global_crops_and_as_many_local_ones_as_asked_for() {
    let made = lists(json!({ "name": "dinov2", "local_crops_number": 3, "global_crops_size": 448 }));
    let names: Vec<&str> = made.views.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["global_2", "local_0", "local_1", "local_2"]);
    let size = |list: &[Value]| list[0]["random_resized_crop"]["size"].as_u64().unwrap();
    assert_eq!((size(&made.images), size(&made.views[0].1), size(&made.views[1].1)), (448, 448, 96));
    let blurred = |list: &[Value]| list[4]["random_apply"]["p"].as_f64().unwrap();
    assert_eq!(made.views.iter().map(|(_, list)| blurred(list)).collect::<Vec<_>>(), [0.1, 0.5, 0.5, 0.5]);
    assert!(blurred(&made.images) > 0.999 && !steps(&made.images).contains(&"random_solarize"));
    assert!(steps(&made.views[0].1).contains(&"random_solarize"));
    assert_eq!(mistakes(json!({ "name": "dinov2", "local_crops_number": 16 }))[0].key, "recipe.local_crops_number");
}

#[test]
fn simclr_s_views_have_one_list_and_a_kernel_of_a_tenth_of_the_side() {
    let made = lists(json!({ "name": "simclr", "size": 96, "strength": 0.5 }));
    assert_eq!(made.views, [("second".to_owned(), made.images.clone())]);
    assert_eq!(made.images[4]["random_apply"]["transforms"][0]["gaussian_blur"]["kernel_size"], 9);
    assert_eq!(made.images[2]["random_apply"]["transforms"][0]["color_jitter"]["hue"], 0.1);
}

/// Where the picture's middle is, what is shown of it and how large it is, as Ultralytics draws them: the scale and the move from
/// the middle are uniform.
#[test]
fn yolo_s_picture_is_moved_and_scaled_as_published_and_never_resized_twice() {
    let gained = |settings: Value| steps(&lists(settings).images).contains(&"random_hsv");
    assert!(gained(json!("yolo")) && !gained(json!({ "name": "yolo", "hsv_h": 0, "hsv_s": 0, "hsv_v": 0 })));
    // A mosaic that is hardly ever drawn leaves the picture alone.
    let settings = [(640, 0.1, 0.5), (96, 0.25, 0.2), (33, 0.1, 0.0), (640, 0.0, 0.5)];
    for ((size, translate, scale), mosaic) in settings.into_iter().flat_map(|each| [(each, 0.0), (each, 1e-9)]) {
        let (recipe, _) = recipe(
            json!({ "name": "yolo", "imgsz": size, "translate": translate, "scale": scale, "fliplr": 0, "mosaic": mosaic }),
        );
        let (mut least, mut most, mut moved) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3], 0.0);
        for record in 0..2000 {
            let draw = Draw { seed: 4, epoch: 1, record };
            let origin = Origin::of_recipe((500, 500), Orientation::AsStored, &recipe);
            let mut plan = Plan::default();
            let map = origin.map(&recipe, draw, Annotated::AsSeen, &mut plan);
            assert!(plan.steps.iter().filter(|step| matches!(step, Step::Resize { .. })).count() <= 1, "{plan:?}");
            #[allow(clippy::cast_precision_loss, reason = "a small number")]
            let side = size as f32;
            let [left, middle] = [map.point([0.0, 0.0]), map.point([250.0, 250.0])];
            let found = [middle[0] / side - 0.5, middle[1] / side - 0.5, 2.0 * (middle[0] - left[0]) / side];
            for (number, found) in found.into_iter().enumerate() {
                (least[number], most[number]) = (least[number].min(found), most[number].max(found));
            }
            moved += f64::from(found[0]) / 2000.0;
        }
        // Whole pixels, and half of one where a side is odd.
        let pixel = 1.6 / f64::from(size);
        for (number, (middle, by)) in [(0.0, translate), (0.0, translate), (1.0, scale)].into_iter().enumerate() {
            let (least, most) = (f64::from(least[number]), f64::from(most[number]));
            assert!(middle - by - pixel <= least && most <= middle + by + pixel, "{size}: {least} {most}");
            assert!(
                least <= middle - 0.98 * by + pixel && middle + 0.98 * by - pixel <= most,
                "{size}: {least} {most}"
            );
        }
        assert!(moved.abs() < 0.02 * translate + pixel, "{size}: {moved}");
    }
}

#[test]
fn a_recipe_or_a_parameter_that_does_not_exist_is_refused_with_those_that_do() {
    let unknown = mistakes(json!("resnet"));
    assert_eq!(unknown[0].key, "recipe");
    assert!(NAMED.iter().all(|each| unknown[0].problem.contains(each.name)), "{unknown:?}");
    let both = mistakes(json!({ "name": "torchvision_eval", "crop": 8, "size": -1 }));
    let told: Vec<_> = both.iter().map(|mistake| (mistake.key.as_str(), mistake.problem.as_str())).collect();
    assert_eq!(
        told,
        [
            ("recipe.size", "is -1; give a whole number from 1 to 16384."),
            (
                "recipe.crop",
                "is not a parameter of torchvision_eval. Its parameters are: size, resize_size, mean, std, interpolation.",
            ),
        ]
    );
}

#[test]
fn a_recipe_s_list_is_the_same_recipe_as_transform() {
    let (by_name, _) = recipe(json!({ "name": "torchvision_train", "auto_augment": "ta_wide" }));
    let list = lists(json!({ "name": "torchvision_train", "auto_augment": "ta_wide" })).images;
    let values = Map::from_iter([("transform".to_owned(), list.into()), ("dtype".to_owned(), "float32".into())]);
    assert_eq!(read(&values, false).unwrap(), by_name);
}

#[test]
fn the_page_of_recipes_has_a_row_for_each_with_its_source() {
    let page = include_str!("../../docs/recipes.md");
    for each in NAMED {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", each.name)));
        let row = row.unwrap_or_else(|| unreachable!("docs/recipes.md has no row of {}", each.name));
        let (repository, _) = each.source.split_once(',').unwrap();
        let (_, revision) = each.source.rsplit_once(' ').unwrap();
        assert!(page.contains(revision) && (row.contains(repository) || row.contains("the same")), "{row}");
    }
}
