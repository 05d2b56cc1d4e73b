//! What most code evaluates with: the shorter side to one length, and the middle of that.

use serde_json::{Value, json};

use super::NamedLists;

/// The lists of an evaluation, whose last transform is `normalize`.
pub(super) fn lists(size: u32, shorter_side: u32, interpolation: &str, normalize: Value) -> NamedLists {
    NamedLists::one(vec![
        json!({ "resize": { "size": shorter_side, "interpolation": interpolation } }),
        json!({ "center_crop": { "size": size } }),
        normalize,
    ])
}

/// The shorter side before the central crop, so that `size` is the fraction `crop_pct` of it, rounded down as in timm.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, and a recipe refuses the result"
)]
pub(super) fn shorter_side(size: u32, crop_pct: f64) -> u32 {
    (f64::from(size) / crop_pct).floor() as u32
}
