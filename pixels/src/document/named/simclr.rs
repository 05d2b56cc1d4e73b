//! The two views of `SimCLR`, which differ by chance alone.

use serde_json::json;

use super::parameters::Parameters;
use super::{NamedLists, apply, crop, evaluation};

pub(super) const SOURCE: &str = "google-research/simclr, data_util.py, at 244e7128";

/// The part of a picture's shorter side that is evaluated.
const CROP_PROPORTION: f64 = 0.875;

/// The blur's kernel is a tenth of the side, made odd.
pub(super) fn train(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let strength = parameters.strength("strength", 1.0);
    let (_, normalize) = parameters.normalize();
    let [by, hue] = [0.8 * strength, 0.2 * strength];
    let jitter = json!({ "color_jitter": { "brightness": by, "contrast": by, "saturation": by, "hue": hue } });
    let images = vec![
        crop(size, [0.08, 1.0], "bicubic"),
        json!({ "random_horizontal_flip": { "p": 0.5 } }),
        apply(&jitter, 0.8),
        json!({ "random_grayscale": { "p": 0.2 } }),
        apply(&json!({ "gaussian_blur": { "kernel_size": (size / 10) | 1, "sigma": [0.1, 2.0] } }), 0.5),
        normalize,
    ];
    NamedLists { views: vec![("second".to_owned(), images.clone())], images }
}

pub(super) fn eval(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let (_, normalize) = parameters.normalize();
    evaluation::lists(size, evaluation::shorter_side(size, CROP_PROPORTION), "bicubic", normalize)
}
