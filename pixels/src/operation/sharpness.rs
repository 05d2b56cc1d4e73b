//! Blurred, or sharper: between the picture and its smoothed form, or beyond.

use serde::{Deserialize, Serialize};

use super::blend::{factor_problem, pillow};
use super::by_chance::by_chance;
use super::workpiece::Workpiece;
use crate::matching::Match;

/// torchvision's `adjust_sharpness`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sharpness {
    /// 0 gives the smoothed picture, 1 leaves everything as it is, 2 sharpens.
    pub sharpness_factor: f64,
}

by_chance! {
    /// torchvision's `RandomAdjustSharpness`.
    RandomAdjustSharpness of Sharpness {
        /// As in [`Sharpness`].
        sharpness_factor: f64,
    }
}

impl Sharpness {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        factor_problem("sharpness_factor", self.sharpness_factor)
    }

    #[expect(clippy::cast_possible_truncation, reason = "factors have single precision")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.sharpness_factor;
        match work.matched {
            Match::Pillow => work.remake(|from, to, width| {
                smooth(from, to, width, |value, smoothed| pillow(smoothed_by_pillow(smoothed), value, factor as f32));
            }),
            Match::Torch => work.remake(|from, to, width| {
                smooth(from, to, width, |value, smoothed| torch(value, smoothed, (1.0 - factor) as f32));
            }),
        }
    }
}

/// Writes `value(own, smoothed)` for each value inside; those of the outermost pixels stay. Smoothed is the mean of the 3 x 3
/// pixels around, in which the middle one counts 5 times: Pillow's `SMOOTH`, summed in its order.
fn smooth(from: &[u8], to: &mut [u8], width: usize, value: impl Fn(u8, f32) -> u8) {
    const SIDE: f32 = 1.0 / 13.0;
    const MIDDLE: f32 = 5.0 / 13.0;
    to.copy_from_slice(from);
    let stride = width * 3;
    let height = from.len() / stride;
    if width < 3 || height < 3 {
        return;
    }
    let row = |number: usize| &from[number * stride..][..stride];
    // The same value of the pixel before, of its own, and of the one behind.
    let beside = |row: &[u8], at: usize, middle: f32| {
        f32::from(row[at]) * SIDE + f32::from(row[at + 3]) * middle + f32::from(row[at + 6]) * SIDE
    };
    for number in 1..height - 1 {
        let (above, own, below) = (row(number - 1), row(number), row(number + 1));
        let to = &mut to[number * stride + 3..][..stride - 6];
        for (at, to) in to.iter_mut().enumerate() {
            let sum = beside(below, at, SIDE);
            let sum = (sum, beside(own, at, MIDDLE), beside(above, at, SIDE));
            *to = value(own[at + 3], 0.5 + sum.0 + sum.1 + sum.2);
        }
    }
}

/// Half was added for rounding.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn smoothed_by_pillow(smoothed: f32) -> u8 {
    smoothed as u8
}

/// torchvision rounds the smoothed value, halves to even, and then blends it with this share.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn torch(value: u8, smoothed: f32, share: f32) -> u8 {
    let value = f32::from(value);
    (value + share * ((smoothed - 0.5).round_ties_even() - value)) as u8
}
