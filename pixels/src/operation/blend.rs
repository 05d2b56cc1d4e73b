//! A value between that of a plain picture (black, gray, blurred) and its own, or beyond: what Pillow's `ImageEnhance` and
//! torchvision's `adjust_` functions do.

/// Greatest factor, of either sign. Larger ones change nothing any more, and single precision has no room for all.
const MOST: f64 = 1e6;

/// From here on, single precision has no room behind the point. The last bits of a sum with this number are the other, rounded.
const WHOLE: f32 = 8_388_608.0;

/// As Pillow: in single precision, cut off below the point.
#[inline(always)]
pub(super) fn pillow(plain: i32, value: i32, factor: f32) -> i32 {
    byte(float(plain) + factor * (float(value) - float(plain)))
}

/// As torchvision with tensors.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "factors have single precision")]
pub(super) fn torch(plain: f32, value: i32, factor: f64) -> i32 {
    byte(float(value) * factor as f32 + (1.0 - factor) as f32 * plain)
}

/// A number that single precision has room for.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "values have 8 bits")]
pub(super) fn float(value: i32) -> f32 {
    value as f32
}

/// Cut off below the point, from 0 to 255. No number gives 0.
#[inline(always)]
pub(super) fn byte(value: f32) -> i32 {
    let value = value.clamp(0.0, 255.0);
    rounded(value) - i32::from((value + WHOLE) - WHOLE > value)
}

/// A number from 0 to 255, rounded, halves to even. CPUs have no vectors of casts that saturate, as those of Rust do.
#[inline(always)]
pub(super) fn rounded(value: f32) -> i32 {
    ((value + WHOLE).to_bits() & 0xff).cast_signed()
}

/// What is wrong with a factor.
pub(super) fn factor_problem(key: &str, factor: f64) -> Option<String> {
    (!(-MOST..=MOST).contains(&factor))
        .then(|| format!("{key} is {factor}, but must be a number from -{MOST} to {MOST}"))
}
