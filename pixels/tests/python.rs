//! Recipes with functions in Python: where they may be, and into which parts they are split.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{
    Background, CpuDecoder, Draw, Dtype, Fault, KeptPicture, Layout, Limits, Mode, Output, Recipe, RecipeError, sample,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

const FLOAT: Output =
    Output { dtype: Dtype::Float32, layout: Layout::Nchw, background: Background::Colour([9, 8, 7]), mode: Mode::Rgb };

fn recipe(list: Value) -> Result<Recipe, RecipeError> {
    Recipe::new(from_value(list).unwrap(), FLOAT)
}

fn function() -> Value {
    json!({ "python": { "function": "steps:augment" } })
}

/// Carries the parts out one after the other, as if each function gave back what it gets.
fn in_parts(recipe: &Recipe, bytes: &[u8], draw: Draw) -> Vec<u8> {
    let (mut decoder, limits) = (CpuDecoder::new(), Limits::default());
    let (first, steps) = recipe.split();
    let mut out = vec![0; first.place_len()];
    decoder.decode(bytes, &first, draw, &limits, &mut out).unwrap();
    for step in steps {
        let (height, width) = step.gives;
        let picture = KeptPicture::of_pixels((width, height), out);
        out = vec![0; step.then.place_len()];
        decoder.transform(&picture, &step.then, draw, &limits, &mut out).unwrap();
    }
    out
}

#[test]
fn a_recipe_without_functions_is_its_own_first_part() {
    let recipe = Recipe::training(32).unwrap();
    let (first, steps) = recipe.split();
    assert!(first == recipe && steps.is_empty() && recipe.python().next().is_none());
}

#[test]
fn a_part_knows_its_sizes_and_only_the_last_one_has_the_form_of_the_output() {
    let recipe = recipe(json!([
        { "center_crop": { "size": 20 } },
        { "python": { "function": "steps:augment", "output": [10, 30] } },
        { "random_crop": { "size": [8, 9] } },
        function(),
        { "normalize": { "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5] } },
    ]))
    .unwrap();
    assert_eq!(recipe.shape(), (8, 9, 3));
    let (first, steps) = recipe.split();
    let (output, background) = (Output::default(), FLOAT.background);
    assert_eq!((first.shape(), first.output()), ((20, 20, 3), Output { background, ..output }));
    let sizes: Vec<_> = steps.iter().map(|step| (step.place, step.takes, step.gives, step.then.shape())).collect();
    assert_eq!(sizes, [(1, (20, 20), (10, 30), (8, 9, 3)), (3, (8, 9), (8, 9), (8, 9, 3))]);
    assert_eq!(steps[0].then.output().dtype, Dtype::Uint8);
    assert_eq!((steps[1].then.output(), steps[1].then.normalize().is_some()), (FLOAT, true));
}

#[test]
fn a_function_needs_one_size_and_has_its_place_in_the_list_itself() {
    for (list, words) in [
        (json!([{ "resize": { "size": 8 } }, function()]), "transform 1 (python): it needs pictures of one size"),
        (json!([function(), { "center_crop": { "size": 8 } }]), "transform 0 (python): it needs pictures of one size"),
        (
            json!([{ "center_crop": { "size": 8 } }, { "random_apply": { "transforms": [function()] } }]),
            "it must be in the list of the stream itself",
        ),
        (
            json!([{ "center_crop": { "size": 8 } }, function(), { "random_iou_crop": {} }, { "center_crop": { "size": 8 } }]),
            "it cannot follow python",
        ),
        (json!([{ "mosaic": { "size": 8 } }, function()]), "it cannot follow mosaic"),
    ] {
        let refused = recipe(list).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn targets_follow_a_function_that_keeps_the_size_alone() {
    let unfollowed =
        |python: Value| recipe(json!([{ "center_crop": { "size": 8 } }, { "python": python }])).unwrap().unfollowed();
    assert_eq!(unfollowed(json!({ "function": "a:b" })), None);
    assert_eq!(unfollowed(json!({ "function": "a:b", "output": 8 })), Some((1, "python")));
}

#[test]
fn no_decoder_passes_over_a_function() {
    let recipe = recipe(json!([{ "center_crop": { "size": 8 } }, function()])).unwrap();
    let mut out = vec![0; recipe.place_len()];
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let bytes = sample::photograph(1, 20, 20);
    let fault = CpuDecoder::new().decode(&bytes, &recipe, draw, &Limits::default(), &mut out).unwrap_err();
    assert_eq!(fault, Fault::Python { function: "steps:augment".to_owned() });
}

proptest! {
    #[test]
    fn parts_behind_each_other_make_what_the_whole_list_makes(
        (seed, record) in (any::<u64>(), any::<u64>()),
        (width, height) in (1_u32..60, 1_u32..60),
        places in prop::collection::btree_set(1_usize..5, 1..4),
    ) {
        let list = [
            json!({ "random_resized_crop": { "size": 24 } }),
            json!({ "color_jitter": { "brightness": 0.4, "hue": 0.1 } }),
            json!({ "random_crop": { "size": [16, 20] } }),
            json!({ "random_horizontal_flip": {} }),
            json!({ "normalize": { "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4] } }),
        ];
        // In the whole list, something that changes nothing is where a function is.
        let with = |each: Value| {
            let (mut made, places) = (list.to_vec(), &places);
            places.iter().rev().for_each(|place| made.insert(*place, each.clone()));
            recipe(json!(made)).unwrap()
        };
        let whole = with(json!({ "random_invert": { "p": 0.0 } }));
        let (bytes, draw) = (sample::photograph(record, width, height), Draw { seed, epoch: 3, record });
        let mut expected = vec![0; whole.place_len()];
        CpuDecoder::new().decode(&bytes, &whole, draw, &Limits::default(), &mut expected).unwrap();
        prop_assert!(in_parts(&with(function()), &bytes, draw) == expected);
    }
}
