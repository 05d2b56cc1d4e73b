//! Numbers of annotations as columns have them.

/// The number in single precision, unless it is too large or not a number.
pub(super) fn single(number: f64) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "precision is lost, and what is too large becomes infinite")]
    let single = number as f32;
    single.is_finite().then_some(single)
}
