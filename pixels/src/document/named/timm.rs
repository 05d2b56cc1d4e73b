//! What timm trains and evaluates with: its `create_transform`, with its names and defaults.

use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{NamedLists, evaluation, flip};
use crate::document::value::choice;

pub(super) const SOURCE: &str = "huggingface/pytorch-image-models, timm/data/transforms_factory.py, at 0893f5d2";

/// The filters of a resize, and one that is drawn.
const FILTERS: [(&str, &str); 5] = [
    ("random", "random"),
    ("nearest", "nearest"),
    ("bilinear", "bilinear"),
    ("bicubic", "bicubic"),
    ("lanczos3", "lanczos3"),
];

pub(super) fn train(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let scale = parameters.range("scale", [0.08, 1.0]);
    let ratio = parameters.range("ratio", [3.0 / 4.0, 4.0 / 3.0]);
    let flipped = parameters.share("hflip", 0.5);
    let jitter = parameters.strength("color_jitter", 0.4);
    let augment = parameters.take("auto_augment", None, |value| {
        let text = || "\"3a\", or a text such as \"rand-m9-mstd0.5-inc1\"".to_owned();
        value.as_str().map(|text| Some(text.to_owned())).ok_or_else(text)
    });
    let interpolation = parameters.take("interpolation", "random", choice(&FILTERS));
    let erased = parameters.share("re_prob", 0.0);
    let (mean, normalize) = parameters.normalize();

    let crop = |interpolation: &str| json!({ "random_resized_crop": { "size": size, "scale": scale, "ratio": ratio, "interpolation": interpolation } });
    let mut images = vec![match interpolation {
        "random" => json!({ "random_choice": { "transforms": [crop("bilinear"), crop("bicubic")] } }),
        interpolation => crop(interpolation),
    }];
    images.extend(flip(flipped));
    let augment = augment.as_deref();
    images.extend(augment.map(|text| self::augment(text, mean, interpolation)));
    if jitter > 0.0 && matches!(augment, None | Some("3a")) {
        images.push(json!({ "color_jitter": { "brightness": jitter, "contrast": jitter, "saturation": jitter } }));
    }
    images.push(normalize);
    if erased > 0.0 {
        let (scale, ratio) = ([0.02, 1.0 / 3.0], [0.3, 10.0 / 3.0]);
        images.push(json!({ "random_erasing": { "p": erased, "scale": scale, "ratio": ratio, "value": "random" } }));
    }
    NamedLists::one(images)
}

pub(super) fn eval(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let crop_pct = parameters.share("crop_pct", 0.875);
    let interpolation = parameters.filter("interpolation", "bicubic");
    let (_, normalize) = parameters.normalize();
    evaluation::lists(size, evaluation::shorter_side(size, crop_pct), interpolation, normalize)
}

fn augment(text: &str, mean: [f64; 3], interpolation: &str) -> Value {
    if text == "3a" {
        return json!({ "three_augment": {} });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
    let fill = mean.map(|value| libm::rint(255.0 * value) as u8);
    let mut augment = json!({ "config": text, "fill": fill });
    if interpolation != "random" {
        augment["interpolation"] = interpolation.into();
    }
    json!({ "timm_rand_augment": augment })
}
