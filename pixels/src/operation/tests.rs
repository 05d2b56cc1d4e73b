//! Operations give the same pixels with every kind of vectors that this CPU has.

use serde_json::{Value, json};

use super::Operation;
use crate::matching::Match;
use crate::sample::photograph_rgb;
use crate::vector::tests::with_each;

fn documents() -> Vec<Value> {
    let affine = |filter: &str, shear: f64, angle: f64| {
        json!({ "affine": {
            "angle": angle, "translate": [3, -1], "scale": 1.0, "shear": [shear, 0], "interpolation": filter, "fill": 77
        } })
    };
    let corners = [[0, 0], [60, 0], [60, 40], [0, 40]];
    let moved = [[9, 3], [55, 1], [50, 37], [2, 30]];
    let mut all = vec![
        json!({ "adjust_brightness": { "brightness_factor": 1.3 } }),
        json!({ "adjust_contrast": { "contrast_factor": 0.4 } }),
        json!({ "adjust_saturation": { "saturation_factor": 1.7 } }),
        json!({ "adjust_hue": { "hue_factor": -0.3 } }),
        json!({ "adjust_hsv": { "hue": 0.1, "saturation": 1.4, "value": 0.8 } }),
        json!({ "adjust_sharpness": { "sharpness_factor": 2.5 } }),
        json!({ "rgb_to_grayscale": {} }),
        json!({ "equalize": {} }),
        json!({ "autocontrast": {} }),
        json!({ "gaussian_blur": { "kernel_size": 23, "sigma": 1.3 } }),
        json!({ "perspective": { "startpoints": corners, "endpoints": moved, "interpolation": "bilinear" } }),
    ];
    for filter in ["nearest", "bilinear", "bicubic"] {
        all.extend([affine(filter, 0.0, 0.0), affine(filter, 10.0, 0.0), affine(filter, 0.0, 33.0)]);
    }
    all
}

#[test]
fn all_kinds_of_vectors_give_the_same_pixels() {
    for document in documents() {
        let operation: Operation = serde_json::from_value(document).expect("it is an operation");
        for matched in [Match::Pillow, Match::Torch] {
            if matched == Match::Torch && !operation.has_torch() {
                continue;
            }
            for (width, height) in [(1, 1), (3, 2), (2, 30), (65, 43), (131, 7)] {
                let made = with_each(|| {
                    let mut rgb = photograph_rgb(5, width, height);
                    operation.apply(&mut rgb, (width, height), matched);
                    rgb
                });
                for (kind, pixels) in &made {
                    assert_eq!(*pixels, made[0].1, "{operation:?}, {matched:?}, {width} x {height}, {kind:?}");
                }
            }
        }
    }
}
