//! Each channel stretched, so that its lowest value becomes 0 and its highest 255.

use serde::{Deserialize, Serialize};

use super::by_chance::by_chance;
use super::workpiece::{Histogram, Workpiece};
use crate::matching::Match;

/// torchvision's `autocontrast`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Autocontrast {}

by_chance! {
    /// torchvision's `RandomAutocontrast`.
    RandomAutocontrast of Autocontrast {}
}

impl Autocontrast {
    pub(super) const IS_LOCAL: bool = false;

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn problem(self) -> Option<String> {
        None
    }

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let value = match work.matched {
            Match::Pillow => pillow,
            Match::Torch => torch,
        };
        work.map_by_histogram(|histogram| table(histogram, value));
    }
}

/// A channel with one value stays as it is.
fn table(histogram: &Histogram, value: impl Fn(u8, u8, u8) -> u8) -> [u8; 256] {
    let mut present = (0..=255).zip(histogram).filter(|(_, count)| **count > 0).map(|(value, _)| value);
    let low = present.next().unwrap_or(0);
    let high = present.next_back().unwrap_or(low);
    std::array::from_fn(|at| {
        let at = u8::try_from(at).expect("tables have 256 entries");
        if low == high { at } else { value(at, low, high) }
    })
}

/// In double precision, as Python calculates it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn pillow(value: u8, low: u8, high: u8) -> u8 {
    let scale = 255.0 / f64::from(high - low);
    let offset = -f64::from(low) * scale;
    (f64::from(value) * scale + offset) as u8
}

/// In single precision.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn torch(value: u8, low: u8, high: u8) -> u8 {
    let inverse_scale = f32::from(high - low) * (1.0 / 255.0);
    ((f32::from(value) - f32::from(low)) / inverse_scale) as u8
}
