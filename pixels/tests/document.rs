//! Recipes as documents: what each key becomes, and that every mistake is named.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::document::{KEYS, Mistake, read};
use forebay_pixels::{Background, Dtype, Input, Layout, Match, Recipe, Transform};
use serde_json::{Map, Value, json};

fn document(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(values) => values,
        other => unreachable!("{other} is no document"),
    }
}

fn keys(mistakes: &[Mistake]) -> Vec<&str> {
    mistakes.iter().map(|mistake| mistake.key.as_str()).collect()
}

#[test]
fn size_means_the_training_pair_with_shuffle_and_the_evaluation_pair_without() {
    let size = document(json!({ "size": 32 }));
    assert_eq!(read(&size, true), Ok(Recipe::training(32).unwrap()));
    assert_eq!(read(&size, false), Ok(Recipe::evaluation(32).unwrap()));
}

#[test]
fn every_key_reaches_the_recipe() {
    let values = document(json!({
        "transform": [{ "center_crop": { "size": 8 } }], "match": "torch", "dtype": "bfloat16", "layout": "NCHW",
        "mode": "RGB", "fill": [1, 2, 3], "adjust_orientation": false, "reducing_gap": 3, "fast": false, "page": 2, "size": null,
        "recipe": null,
    }));
    assert!(KEYS.iter().all(|key| values.contains_key(*key)) && values.len() == KEYS.len());
    let recipe = read(&values, true).unwrap();
    assert!(matches!(recipe.transforms(), [Transform::CenterCrop(_)]));
    assert_eq!(recipe.matched(), Match::Torch);
    let output = recipe.output();
    assert_eq!(
        (output.dtype, output.layout, output.background),
        (Dtype::Bfloat16, Layout::Nchw, Background::Colour([1, 2, 3]))
    );
    let dropped = read(&document(json!({ "size": 32, "fill": "drop" })), true).unwrap();
    assert_eq!(dropped.output().background, Background::Dropped);
    assert_eq!(recipe.input(), Input { adjust_orientation: false, reducing_gap: Some(3.0), page: 2 });
}

#[test]
fn every_mistake_is_named_at_its_place() {
    let values = document(json!({
        "dtype": "int8", "layout": 1, "fill": [0, 0], "adjust_orientation": "no", "fast": true, "reducing_gap": 2.0,
        "match": "cv2", "transform": [{ "center_crop": { "size": 8 } }, { "spin": {} }, 7],
    }));
    let mistakes = read(&values, false).unwrap_err().mistakes;
    let all = ["dtype", "layout", "fill", "adjust_orientation", "fast", "match", "transform[1]", "transform[2]"];
    assert_eq!(keys(&mistakes), all);
    assert_eq!(mistakes[0].problem, r#"is "int8"; give one of "uint8", "float16", "bfloat16", "float32"."#);
}

#[test]
fn one_wrong_key_is_enough_to_have_no_recipe() {
    for (values, key) in [
        (json!({ "size": 8, "dtype": "int8" }), "dtype"),
        (json!({ "size": 0 }), "size"),
        (json!({ "size": 8, "transform": [] }), "size"),
        (json!({}), "size"),
        (json!({ "transform": {} }), "transform"),
        (json!({ "size": 8, "reducing_gap": 0.5 }), "reducing_gap"),
    ] {
        let mistakes = read(&document(values.clone()), true).unwrap_err().mistakes;
        assert_eq!(keys(&mistakes), [key], "{values}");
    }
}

#[test]
fn rule_6_a_shape_that_is_not_fixed_is_a_mistake() {
    let mistakes =
        read(&document(json!({ "transform": [{ "resize": { "size": 256 } }] })), false).unwrap_err().mistakes;
    assert_eq!(keys(&mistakes), ["transform"]);
    assert!(mistakes[0].problem.contains("center_crop"), "{mistakes:?}");
}

#[test]
fn keys_of_others_are_passed_over() {
    let values = document(json!({ "size": 8, "batch_size": "many", "source": 1 }));
    assert_eq!(read(&values, true), Ok(Recipe::training(8).unwrap()));
}
