//! Operations on values: alone, one after the other, and at their place in a recipe. Whether they give what Pillow and
//! torchvision give is tested from Python, in `clients/python/tests/test_functional.py`.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, Limits, Match, Operation, Output, Recipe, Step, Transform};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

const DRAW: Draw = Draw { seed: 4, epoch: 1, record: 9 };

fn operation(document: Value) -> Operation {
    from_value(document).unwrap()
}

fn list(document: Value) -> Vec<Transform> {
    from_value(document).unwrap()
}

fn recipe(document: Value) -> Recipe {
    Recipe::new(list(document), Output::default()).unwrap()
}

/// Transforms that carry out each kind of operation, with any parameters, for certain.
fn any_change() -> impl Strategy<Value = Value> {
    let factor = prop_oneof![Just(0.0), Just(1.0), 0.0..3.0_f64, 0.0..1e6_f64];
    (0..20, factor, -0.5..=0.5_f64, -10.0..300.0_f64, 0..=8_u8).prop_map(|(kind, factor, part, value, bits)| {
        let jitter = |key: &str, factor: f64| json!({ "color_jitter": { key: [factor, factor] } });
        let filter = ["nearest", "bilinear"][usize::from(bits % 2)];
        match kind {
            0 => jitter("brightness", factor),
            1 => jitter("contrast", factor),
            2 => jitter("saturation", factor),
            3 => jitter("hue", part),
            4 => json!({ "random_adjust_sharpness": { "sharpness_factor": factor, "p": 1.0 } }),
            5 => json!({ "grayscale": {} }),
            6 => json!({ "random_solarize": { "threshold": value, "p": 1.0 } }),
            7 => json!({ "random_posterize": { "bits": bits, "p": 1.0 } }),
            8 => json!({ "random_invert": { "p": 1.0 } }),
            9 => json!({ "random_autocontrast": { "p": 1.0 } }),
            10 => json!({ "random_equalize": { "p": 1.0 } }),
            11 => json!({ "gaussian_blur": { "kernel_size": bits * 2 + 1, "sigma": part + 0.6 } }),
            12 => json!({ "random_erasing": { "p": 1.0, "value": bits } }),
            13 => json!({ "random_rotation": { "degrees": [value, value], "interpolation": filter, "fill": bits } }),
            14 => json!({ "random_affine": {
                "degrees": value.abs(), "translate": [part.abs(), 0.1], "scale": [0.5, 2.0], "shear": value.abs() / 8.0,
                "interpolation": filter } }),
            15 => json!({ "random_perspective": { "p": 1.0, "interpolation": filter, "fill": bits } }),
            16 => json!({ "pillow_gaussian_blur": { "radius": part.abs() * 9.0 } }),
            17 => json!({ "aug_mix": { "interpolation": filter, "severity": bits + 1 } }),
            18 => json!({ "timm_rand_augment": { "config": "rand-m9-mstd2-p1", "interpolation": filter } }),
            _ => json!({ "rand_augment": { "magnitude": bits, "interpolation": filter, "num_ops": 3 } }),
        }
    })
}

fn any_match() -> impl Strategy<Value = Match> {
    prop::sample::select(vec![Match::Pillow, Match::Torch])
}

fn mirrored(rgb: &[u8], width: u32) -> Vec<u8> {
    let rows = rgb.chunks_exact(width as usize * 3);
    rows.flat_map(|row| row.as_chunks::<3>().0.iter().rev().flatten().copied()).collect()
}

fn cut(rgb: &[u8], width: u32, [left, top, wide, high]: [u32; 4]) -> Vec<u8> {
    let rows = rgb.chunks_exact(width as usize * 3).skip(top as usize).take(high as usize);
    rows.flat_map(|row| &row[left as usize * 3..][..wide as usize * 3]).copied().collect()
}

/// What the recipe makes of a picture.
fn made(recipe: &Recipe, file: &[u8]) -> Vec<u8> {
    let mut place = vec![0; recipe.place_len()];
    CpuDecoder::new().decode(file, recipe, DRAW, &Limits::default(), &mut place).unwrap();
    place
}

fn file(width: u32, height: u32) -> Vec<u8> {
    JpegForm::default().encode(&photograph_rgb(3, width, height), width, height).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Tables that are chained, and statistics that are taken through them, change nothing.
    #[test]
    fn operations_in_a_row_are_those_one_after_the_other(
        documents in prop::collection::vec(any_change(), 1..6),
        width in 1..40_u32, height in 1..40_u32, matched in any_match(),
    ) {
        let size = json!({ "resize": { "size": [height, width] } });
        let matched_as = |list: Vec<Value>| recipe(Value::Array(list)).with_match(matched).unwrap();
        let file = file(30, 25);
        let mut expected = made(&matched_as(vec![size.clone()]), &file);
        let whole = matched_as([vec![size], documents].concat());
        for step in whole.plan(30, 25, DRAW).steps {
            if let Step::Operate(operation) = step {
                operation.apply(&mut expected, (width, height), matched);
            }
        }
        prop_assert!(made(&whole, &file) == expected);
    }

    /// Wherever an operation stands, it sees the picture as the steps before it leave it, and those behind see its result.
    #[test]
    fn an_operation_is_carried_out_at_its_place_in_the_list(
        change in any_change(), matched in any_match(), place in 0..5_usize, flips in any::<bool>(),
    ) {
        let (width, height) = (41, 33);
        let flip = json!({ "random_horizontal_flip": { "p": if flips { 1.0 } else { 0.0 } } });
        let steps = [
            flip.clone(),
            json!({ "resize": { "size": [height, width] } }),
            flip,
            json!({ "center_crop": { "size": [20, 30] } }),
        ];
        let mut with = steps.to_vec();
        with.insert(place, change);
        let with = recipe(Value::Array(with)).with_match(matched).unwrap();
        let plan = with.plan(width, height, DRAW);
        let operations = plan.steps.iter().filter_map(|step| match step {
            Step::Operate(operation) => Some(*operation),
            _ => None,
        });
        let operations: Vec<_> = operations.collect();
        let mut rgb = photograph_rgb(5, width, height);
        let mut png = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_raw(width, height, rgb.clone()).unwrap().write_to(&mut png, image::ImageFormat::Png).unwrap();
        let mut size = (width, height);
        for number in 0..5_usize {
            if number == place {
                for operation in &operations {
                    operation.apply(&mut rgb, size, matched);
                }
            }
            match number {
                0 | 2 if flips => rgb = mirrored(&rgb, size.0),
                3 => {
                    rgb = cut(&rgb, width, [6, 6, 30, 20]);
                    size = (30, 20);
                }
                _ => {}
            }
        }
        prop_assert!(made(&with, png.get_ref()) == rgb);
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    for (document, words) in [
        (json!({ "adjust_hue": { "hue_factor": 0.51 } }), "hue_factor is 0.51"),
        (json!({ "posterize": { "bits": 9 } }), "bits is 9"),
        (json!({ "rgb_to_grayscale": { "num_output_channels": 1 } }), "must be 3"),
        (json!({ "adjust_contrast": { "contrast_factor": 1e7 } }), "contrast_factor is 10000000"),
    ] {
        let problem = operation(document).problem().unwrap();
        assert!(problem.contains(words), "{problem}");
    }
    for (transform, words) in [
        (json!({ "color_jitter": { "hue": 0.6 } }), "hue is 0.6, which gives -0.6 to 0.6"),
        (json!({ "color_jitter": { "brightness": [1.2, 0.8] } }), "brightness is [1.2, 0.8]"),
        (json!({ "color_jitter": { "saturation": -0.1 } }), "saturation is -0.1"),
        (json!({ "random_solarize": { "threshold": 128, "p": 2 } }), "p is 2"),
        (json!({ "gaussian_blur": { "kernel_size": 4 } }), "kernel_size is [4, 4]"),
        (json!({ "gaussian_blur": { "kernel_size": 257 } }), "up to 255"),
        (json!({ "gaussian_blur": { "kernel_size": 3, "sigma": [0, 1] } }), "sigma is [0, 1]"),
        (json!({ "random_erasing": { "scale": [0.1, 1.5] } }), "must be at most 1"),
        (json!({ "random_erasing": { "value": 256 } }), "value must be from 0 to 255"),
        (json!({ "random_erasing": { "value": "random" } }), "only there behind normalize"),
        (json!({ "random_rotation": { "degrees": [5, -5] } }), "the smaller one must be first"),
        (json!({ "random_rotation": { "degrees": 5, "interpolation": "lanczos3" } }), "must be \"nearest\""),
        (json!({ "random_affine": { "degrees": 5, "translate": [0, 2] } }), "translate must be"),
        (json!({ "random_affine": { "degrees": 5, "scale": [0, 2] } }), "scale must be"),
        (json!({ "random_affine": { "degrees": 5, "fill": [0, 256, 0] } }), "fill is [0.0, 256.0, 0.0]"),
        (json!({ "rand_augment": { "magnitude": 31 } }), "magnitude is 31, but must be below 31"),
        (json!({ "rand_augment": { "num_ops": 17 } }), "num_ops is 17"),
        (json!({ "trivial_augment_wide": { "num_magnitude_bins": 1 } }), "num_magnitude_bins is 1"),
        (json!({ "random_apply": { "transforms": [] } }), "empty list"),
        (
            json!({ "random_order": { "transforms": [{ "random_posterize": { "bits": 9 } }] } }),
            "transforms[0] (random_posterize)",
        ),
        (json!({ "random_choice": { "transforms": [{ "grayscale": {} }], "p": [0] } }), "p is [0.0]"),
        (json!({ "random_choice": { "transforms": [{ "grayscale": {} }], "p": [1, 1] } }), "each of 1 transforms"),
        (
            json!({ "random_apply": { "transforms": [{ "normalize": { "mean": [0, 0, 0], "std": [1, 1, 1] } }] } }),
            "end of the whole list",
        ),
    ] {
        let error =
            Recipe::new(list(json!([{ "center_crop": { "size": 8 } }, transform])), Output::default()).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn rule_06_transforms_in_others_keep_the_shape_fixed_or_are_refused() {
    let crop = |size: u32| json!({ "random_resized_crop": { "size": size } });
    let open = |document: Value| Recipe::new(list(document), Output::default()).is_err();
    assert!(open(json!([{ "random_apply": { "transforms": [crop(8)] } }])), "none of them is a chance too");
    assert!(!open(json!([{ "random_apply": { "transforms": [crop(8)], "p": 1.0 } }])));
    assert!(open(json!([{ "random_choice": { "transforms": [crop(8), crop(9)] } }])));
    assert!(!open(json!([{ "random_choice": { "transforms": [crop(8), { "center_crop": { "size": 8 } }] } }])));
    assert!(open(json!([crop(8), { "random_order": { "transforms": [crop(9), { "grayscale": {} }] } }])));
    let filters = json!([{ "random_apply": { "transforms": [
        { "resize": { "size": [8, 8], "interpolation": "lanczos3" } }], "p": 1.0 } }]);
    assert!(recipe(filters).with_match(Match::Torch).is_err(), "torch has no such filter, wherever it is asked for");
    let many = json!({ "random_order": { "transforms": vec![json!({ "grayscale": {} }); 32] } });
    assert!(open(json!([crop(8), many])), "those in others count too");
}

/// How often the steps of 20,000 plans fulfil a condition, as a part of 1.
fn share(document: &Value, holds: impl Fn(&[Step]) -> bool) -> f64 {
    let recipe = recipe(json!([{ "center_crop": { "size": 8 } }, document]));
    let plans = (0..20_000).map(|record| recipe.plan(8, 8, Draw { record, ..DRAW }));
    f64::from(u32::try_from(plans.filter(|plan| holds(&plan.steps)).count()).unwrap()) / 20_000.0
}

#[test]
fn rule_08_lists_by_chance_draw_as_likely_as_they_say() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.012, "{found}, not {expected}");
    let solarize = |threshold: u8| json!({ "random_solarize": { "threshold": threshold, "p": 1.0 } });
    let three = vec![solarize(1), solarize(2), solarize(3)];
    let thresholds = |steps: &[Step]| -> Vec<u8> {
        let all = steps.iter().filter_map(|step| match step {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 3")]
            Step::Operate(Operation::Solarize(it)) => Some(it.threshold as u8),
            _ => None,
        });
        all.collect()
    };
    near(
        share(&json!({ "random_apply": { "transforms": three, "p": 0.3 } }), |steps| thresholds(steps) == [1, 2, 3]),
        0.3,
    );
    near(share(&json!({ "random_apply": { "transforms": three, "p": 0.3 } }), <[Step]>::is_empty), 0.7);
    for (number, weight) in [(1, 0.2), (2, 0.0), (3, 0.8)] {
        let choice = json!({ "random_choice": { "transforms": three, "p": [1, 0, 4] } });
        near(share(&choice, |steps| thresholds(steps) == [number]), weight);
        near(
            share(&json!({ "random_choice": { "transforms": three } }), |steps| thresholds(steps) == [number]),
            1.0 / 3.0,
        );
    }
    for order in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
        near(share(&json!({ "random_order": { "transforms": three } }), |steps| thresholds(steps) == order), 1.0 / 6.0);
    }
    let chance = json!({ "random_apply": { "transforms": [solarize(1)], "p": 0.5 } });
    let twice = json!({ "random_order": { "transforms": [chance, chance] } });
    near(share(&twice, |steps| thresholds(steps).len() == 1), 0.5);
}

#[test]
fn rule_08_a_jitter_draws_each_order_as_likely_and_each_number_evenly() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.012, "{found}, not {expected}");
    let all = json!({ "color_jitter": { "brightness": 0.4, "contrast": 2.0, "saturation": [0.5, 0.7], "hue": 0.1 } });
    for first in ["adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue"] {
        let is_first = |steps: &[Step]| matches!(steps[0], Step::Operate(operation) if operation.name() == first);
        near(share(&all, is_first), 0.25);
    }
    let below = |limit: f64| {
        share(&all, move |steps| {
            steps
                .iter()
                .any(|step| matches!(step, Step::Operate(Operation::Contrast(it)) if it.contrast_factor < limit))
        })
    };
    near(below(1.0), 1.0 / 3.0);
    near(below(2.0), 2.0 / 3.0);
    near(below(3.0), 1.0);
    assert!(below(1e-9) < 1e-9, "from 0, not from -1");
    near(share(&json!({ "color_jitter": { "hue": 0, "contrast": 0 } }), <[Step]>::is_empty), 1.0);
}
