//! A value between that of a plain picture (black, gray, blurred) and its own, or beyond: what Pillow's `ImageEnhance` and
//! torchvision's `adjust_` functions do.

/// Greatest factor, of either sign. Larger ones change nothing any more, and single precision has no room for all.
const MOST: f64 = 1e6;

/// As Pillow: in single precision, cut off below the point.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
pub(super) fn pillow(plain: u8, value: u8, factor: f32) -> u8 {
    (f32::from(plain) + factor * (f32::from(value) - f32::from(plain))) as u8
}

/// As torchvision with tensors.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
pub(super) fn torch(plain: f32, value: u8, factor: f64) -> u8 {
    (f32::from(value) * factor as f32 + (1.0 - factor) as f32 * plain) as u8
}

/// What is wrong with a factor.
pub(super) fn factor_problem(key: &str, factor: f64) -> Option<String> {
    (!(-MOST..=MOST).contains(&factor))
        .then(|| format!("{key} is {factor}, but must be a number from -{MOST} to {MOST}"))
}
