//! What settings may say, and what is refused with which words.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{Background, Dtype, Layout, Match, Mode, Output, Recipe, RecipeError, Transform};
use serde_json::{Value, from_value, json};

const FLOAT: Output =
    Output { dtype: Dtype::Float32, layout: Layout::Nchw, background: Background::Colour([0; 3]), mode: Mode::Rgb };

fn parse(list: Value) -> Result<Vec<Transform>, String> {
    from_value(list).map_err(|error| error.to_string())
}

fn recipe(list: Value) -> Result<Recipe, RecipeError> {
    Recipe::new(parse(list).unwrap(), FLOAT)
}

#[test]
fn settings_name_transforms_as_torchvision_does() {
    let short = parse(json!([{ "random_resized_crop": { "size": 224 } }, { "random_horizontal_flip": {} }])).unwrap();
    assert_eq!(short, Transform::training(224));
    let long = parse(json!([
        { "random_resized_crop": {
            "size": [224, 224], "scale": [0.08, 1.0], "ratio": [0.75, 1.333], "interpolation": "bicubic" } },
        { "random_horizontal_flip": { "p": 0.5 } },
        { "normalize": { "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225] } },
    ]));
    let recipe = Recipe::new(long.unwrap(), FLOAT).unwrap();
    assert_eq!(recipe.shape(), (224, 224, 3));
    assert_eq!(recipe.place_len(), 224 * 224 * 3 * 4);
    assert!(recipe.normalize().is_some());
}

#[test]
fn size_without_shuffle_is_resize_256_and_centre_crop_224() {
    let long = parse(json!([{ "resize": { "size": 256 } }, { "center_crop": { "size": 224 } }])).unwrap();
    assert_eq!(long, Transform::evaluation(224));
}

#[test]
fn unknown_transforms_keys_and_filters_are_refused_by_name() {
    for (list, word) in [
        (json!([{ "random_skew": { "size": 224 } }]), "random_skew"),
        (json!([{ "resize": { "size": 224, "antialias": true } }]), "antialias"),
        (json!([{ "resize": { "size": 224, "interpolation": "area" } }]), "area"),
        (json!([{ "resize": { "size": "big" } }]), "one whole number or [height, width]"),
    ] {
        let error = parse(list).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn values_out_of_range_are_refused_with_place_name_and_range() {
    let size = json!([{ "resize": { "size": [8, 8] } }]);
    for (transform, words) in [
        (json!({ "resize": { "size": 0 } }), "transform 1 (resize): size is 0 x 0"),
        (json!({ "center_crop": { "size": [1, 99_999] } }), "transform 1 (center_crop): size is 1 x 99999"),
        (json!({ "random_resized_crop": { "size": 8, "scale": [0.5, 0.1] } }), "scale is [0.5, 0.1]"),
        (json!({ "random_resized_crop": { "size": 8, "ratio": [0.0, 1.0] } }), "ratio is [0, 1]"),
        (json!({ "random_horizontal_flip": { "p": 1.5 } }), "p is 1.5, but must be from 0 to 1"),
        (json!({ "normalize": { "mean": [0, 0, 0], "std": [1, 0, 1] } }), "numbers above 0"),
    ] {
        let error = recipe(json!([size[0].clone(), transform])).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn rule_06_a_list_without_a_fixed_shape_is_refused_with_what_to_add() {
    for list in [
        json!([]),
        json!([{ "resize": { "size": 256 } }]),
        json!([{ "pad": { "size": 256 } }]),
        json!([{ "random_horizontal_flip": {} }]),
    ] {
        let error = recipe(list).unwrap_err();
        assert_eq!(error, RecipeError::NoFixedShape);
        assert!(error.to_string().contains("center_crop"));
    }
}

#[test]
fn rule_06_the_shape_follows_the_list() {
    for (list, shape) in [
        (json!([{ "resize": { "size": [100, 200] } }]), (100, 200, 3)),
        (json!([{ "resize": { "size": [100, 200] } }, { "resize": { "size": 50 } }]), (50, 100, 3)),
        (json!([{ "center_crop": { "size": 64 } }, { "pad": { "size": [32, 80] } }]), (64, 80, 3)),
        (json!([{ "random_resized_crop": { "size": [7, 9] } }]), (7, 9, 3)),
    ] {
        assert_eq!(recipe(list).unwrap().shape(), shape);
    }
}

#[test]
fn normalize_needs_floats_and_the_last_place() {
    let normalize = json!({ "normalize": { "mean": [0, 0, 0], "std": [1, 1, 1] } });
    let crop = json!({ "center_crop": { "size": 8 } });
    let list = parse(json!([crop, normalize])).unwrap();
    assert_eq!(Recipe::new(list, Output::default()), Err(RecipeError::NormalizeNeedsFloat { place: 1 }));
    assert_eq!(recipe(json!([normalize, crop])), Err(RecipeError::NormalizeNotLast { place: 0 }));
}

#[test]
fn pillows_pixels_are_the_default_and_torchs_are_had_where_torch_has_the_filter() {
    let resize = |filter: &str| json!({ "resize": { "size": [8, 9], "interpolation": filter } });
    let crop = |filter: &str| json!({ "random_resized_crop": { "size": 8, "interpolation": filter } });
    assert_eq!(recipe(json!([resize("lanczos3")])).unwrap().matched(), Match::Pillow);
    let torch = |list: Value| recipe(list).unwrap().with_match(Match::Torch);
    let both = torch(json!([resize("bilinear"), crop("bicubic"), { "random_horizontal_flip": {} }])).unwrap();
    assert_eq!(both.matched(), Match::Torch);
    let lanczos = torch(json!([resize("bilinear"), resize("lanczos3")])).unwrap_err();
    assert_eq!(lanczos, RecipeError::NoTorchFilter { place: 1, name: "resize" });
    let nearest = torch(json!([crop("nearest")])).unwrap_err();
    assert_eq!(nearest, RecipeError::NoTorchFilter { place: 0, name: "random_resized_crop" });
    assert!(nearest.to_string().contains("\"bicubic\""), "{nearest}");
}

#[test]
fn a_list_beyond_measure_is_refused() {
    let list = vec![Transform::evaluation(8)[1].clone(); 33];
    assert_eq!(Recipe::new(list, FLOAT), Err(RecipeError::TooMany { len: 33 }));
}
