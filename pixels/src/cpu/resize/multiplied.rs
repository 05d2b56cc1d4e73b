//! Colours that are multiplied by their alpha, which the values of both have for a resize: so a transparent pixel's colour has no part
//! in its neighbours'. Pillow does the same, in the same whole numbers.

use crate::output::Mode;

/// Copies a row, with its colours multiplied by alpha, which is the last value of each pixel.
pub(super) fn multiply(mode: Mode, from: &[u8], to: &mut [u8]) {
    match mode {
        Mode::La => each(from, to, |[gray, alpha]| [product(gray, alpha), alpha]),
        _ => each(from, to, |[red, green, blue, alpha]| {
            [product(red, alpha), product(green, alpha), product(blue, alpha), alpha]
        }),
    }
}

/// The same back, in place.
pub(super) fn divide(mode: Mode, row: &mut [u8]) {
    match mode {
        Mode::La => row.as_chunks_mut::<2>().0.iter_mut().for_each(|pixel| {
            let [gray, alpha] = *pixel;
            *pixel = [quotient(gray, alpha), alpha];
        }),
        _ => row.as_chunks_mut::<4>().0.iter_mut().for_each(|pixel| {
            let [red, green, blue, alpha] = *pixel;
            *pixel = [quotient(red, alpha), quotient(green, alpha), quotient(blue, alpha), alpha];
        }),
    }
}

fn each<const N: usize>(from: &[u8], to: &mut [u8], pixel: impl Fn([u8; N]) -> [u8; N]) {
    for (to, from) in to.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<N>().0) {
        *to = pixel(*from);
    }
}

/// `value` x `alpha` / 255, to the nearest.
#[expect(clippy::cast_possible_truncation, reason = "at most 255")]
fn product(value: u8, alpha: u8) -> u8 {
    let twice = u32::from(value) * u32::from(alpha) + 128;
    (((twice >> 8) + twice) >> 8) as u8
}

/// `value` x 255 / `alpha`, cut off below the point and at 255. Without alpha, the value stays.
fn quotient(value: u8, alpha: u8) -> u8 {
    match alpha {
        0 | u8::MAX => value,
        _ => u8::try_from(u32::from(value) * 255 / u32::from(alpha)).unwrap_or(u8::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_the_nearest_whole_numbers_and_opaque_pixels_come_back_as_they_were() {
        for (value, alpha) in (0..=255).flat_map(|value| (0..=255).map(move |alpha| (value, alpha))) {
            let exact = f64::from(value) * f64::from(alpha) / 255.0;
            assert!((f64::from(product(value, alpha)) - exact).abs() <= 0.5, "{value} x {alpha}");
            let mut back = [product(value, alpha), alpha];
            divide(Mode::La, &mut back);
            let apart = back[0].abs_diff(value);
            assert!(alpha == 0 || u32::from(apart) <= 255_u32.div_ceil(u32::from(alpha)), "{value} x {alpha}");
            assert!(alpha < 255 || apart == 0);
        }
        assert_eq!(quotient(200, 100), 255, "values beyond alpha are cut off");
    }
}
