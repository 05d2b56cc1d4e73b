//! Streams with a named recipe.

use forebay_pixels::{Dtype, Transform};
use serde_json::{Value, json};

use super::{StreamSection, keys, loader};
use crate::config::Config;

fn stream(recipe: &str, more: &str) -> StreamSection {
    let text = format!("[streams.a]\nsource = \"/data\"\nbatch_size = 8\nrecipe = {recipe}\n{more}");
    Config::parse(&text, "a.toml").unwrap().streams.remove("a").unwrap()
}

fn asked(recipe: &Value, more: &Value) -> Value {
    let mut settings = json!({ "source": "/data", "batch_size": 8, "recipe": recipe });
    for (key, value) in more.as_object().unwrap() {
        settings[key] = value.clone();
    }
    settings
}

#[test]
fn a_stream_names_a_recipe_and_overrides_its_parameters() {
    let recipe = stream("{ name = \"timm_train\", size = 64, hflip = 0.0 }", "").settings.recipe;
    assert_eq!((recipe.shape(), recipe.output().dtype), ((64, 64, 3), Dtype::Float32));
    let [Transform::RandomChoice(_), Transform::ColorJitter(_), Transform::Normalize(_)] = recipe.transforms() else {
        unreachable!("not timm's: {recipe:?}")
    };
    let half = stream("\"torchvision_eval\"", "dtype = \"float16\"").settings.recipe;
    assert_eq!(half.output().dtype, Dtype::Float16, "what is given counts");
    assert_eq!(stream("\"yolo_eval\"", "").settings.recipe.output().dtype, Dtype::Uint8, "it does not normalise");
}

#[test]
fn a_recipe_has_views_and_a_stream_may_add_others() {
    let more = "[streams.a.views.whole]\nrecipe = \"timm_eval\"";
    let settings = stream("{ name = \"dinov2\", local_crops_number = 2 }", more).settings;
    let shapes: Vec<_> = settings.views.iter().map(|view| (view.name.as_str(), view.recipe.shape())).collect();
    let [large, small] = [(224, 224, 3), (96, 96, 3)];
    assert_eq!(shapes, [("global_2", large), ("local_0", small), ("local_1", small), ("whole", large)]);
    assert!(settings.views.iter().all(|view| view.recipe.output().dtype == Dtype::Float32));
}

#[test]
fn mistakes_in_a_recipe_are_named_by_their_keys() {
    let nothing = json!({});
    for (recipe, more, key, words) in [
        (json!("timm"), &nothing, "recipe", "\"timm\", which is no recipe; give one of torchvision_train, "),
        (json!(7), &nothing, "recipe", "give a name"),
        (json!({ "size": 8 }), &nothing, "recipe", "has no name"),
        (json!({ "name": "simclr", "sizes": 8 }), &nothing, "recipe.sizes", "Its parameters are: size, strength, "),
        (json!({ "name": "simclr", "size": 0 }), &nothing, "recipe.size", "from 1 to 16384"),
        (json!({ "name": "timm_train", "auto_augment": "rand-q" }), &nothing, "recipe[2]", "\"q\" is not known"),
        (json!({ "name": "dinov2", "local_crops_scale": [1, 0] }), &nothing, "recipe", "gives the view local_0"),
        (json!("simclr"), &json!({ "size": 8 }), "size", "cannot be combined with recipe"),
        (json!("simclr"), &json!({ "dtype": "uint8" }), "recipe", "needs a float output"),
        (json!("simclr"), &json!({ "views": { "second": { "size": 8 } } }), "views.second", "recipe already"),
        (
            json!("simclr"),
            &json!({ "views": { "more": { "recipe": "simclr" } } }),
            "views.more.recipe",
            "to the stream",
        ),
    ] {
        let mistakes = loader(&asked(&recipe, more)).unwrap_err();
        assert!(keys(&mistakes).iter().all(|found| *found == key), "{recipe}, {more}: {mistakes}");
        assert!(mistakes.list[0].problem.contains(words), "{recipe}, {more}: {mistakes}");
    }
}

#[test]
fn rule_26_a_loader_may_give_the_recipe_or_the_transforms_that_it_stands_for() {
    let stream = stream("{ name = \"torchvision_eval\", size = 32 }", "");
    let list = |size: u32| {
        let normalize = json!({ "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225] });
        json!([{ "resize": { "size": 256 } }, { "center_crop": { "size": size } }, { "normalize": normalize }])
    };
    let recipe = |size: u32| json!({ "name": "torchvision_eval", "size": size });
    for (agrees, given) in [
        (true, json!({ "recipe": recipe(32) })),
        (true, json!({ "transform": list(32), "dtype": "float32" })),
        (false, json!({ "recipe": recipe(33) })),
        (false, json!({ "recipe": "torchvision_train" })),
        (false, json!({ "transform": list(33) })),
        (false, json!({ "size": 32 })),
        (false, json!({ "dtype": "float16" })),
    ] {
        assert_eq!(stream.agree(&given).is_ok(), agrees, "{given}");
    }
}
