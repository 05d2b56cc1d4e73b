//! What torchvision's classification references train and evaluate with.

use serde_json::{Value, json};

use super::parameters::Parameters;
use super::{NamedLists, evaluation, flip};
use crate::document::value::{choice, whole};

pub(super) const SOURCE: &str = "pytorch/vision, references/classification/presets.py, at 080836e5";

/// What `auto_augment` may be, with its transform.
const POLICIES: [(&str, &str); 6] = [
    ("ra", "rand_augment"),
    ("ta_wide", "trivial_augment_wide"),
    ("augmix", "aug_mix"),
    ("imagenet", "auto_augment"),
    ("cifar10", "auto_augment"),
    ("svhn", "auto_augment"),
];

pub(super) fn train(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let (_, normalize) = parameters.normalize();
    let interpolation = parameters.filter("interpolation", "bilinear");
    let flipped = parameters.share("hflip_prob", 0.5);
    let policy = parameters.take("auto_augment", None, |value| {
        choice(&POLICIES)(value)?;
        Ok(value.as_str().map(str::to_owned))
    });
    let magnitude = parameters.take("ra_magnitude", 9, whole(0..=30));
    let severity = parameters.take("augmix_severity", 3, whole(1..=10));
    let erased = parameters.share("random_erase_prob", 0.0);

    let mut images = vec![json!({ "random_resized_crop": { "size": size, "interpolation": interpolation } })];
    images.extend(flip(flipped));
    images.extend(policy.map(|policy| augment(&policy, interpolation, magnitude, severity)));
    images.push(normalize);
    if erased > 0.0 {
        images.push(json!({ "random_erasing": { "p": erased } }));
    }
    NamedLists::one(images)
}

pub(super) fn eval(parameters: &mut Parameters<'_>) -> NamedLists {
    let size = parameters.side("size", 224);
    let resized = parameters.side("resize_size", 256);
    let (_, normalize) = parameters.normalize();
    evaluation::lists(size, resized, parameters.filter("interpolation", "bilinear"), normalize)
}

fn augment(policy: &str, interpolation: &str, magnitude: u32, severity: u32) -> Value {
    match policy {
        "ra" => json!({ "rand_augment": { "magnitude": magnitude, "interpolation": interpolation } }),
        "ta_wide" => json!({ "trivial_augment_wide": { "interpolation": interpolation } }),
        "augmix" => json!({ "aug_mix": { "severity": severity, "interpolation": interpolation } }),
        policy => json!({ "auto_augment": { "policy": policy, "interpolation": interpolation } }),
    }
}
