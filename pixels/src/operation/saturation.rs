//! Nearer to gray, or more colourful.

use serde::{Deserialize, Serialize};

use super::blend::{factor_problem, pillow, torch};
use super::gray;
use super::workpiece::Workpiece;
use crate::matching::Match;

/// torchvision's `adjust_saturation`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// 0 takes all colours away, 1 leaves everything as it is.
    pub saturation_factor: f64,
}

impl Saturation {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        factor_problem("saturation_factor", self.saturation_factor)
    }

    #[expect(clippy::cast_possible_truncation, reason = "Pillow's factor has single precision")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.saturation_factor;
        match work.matched {
            Match::Pillow => work.each_pixel(|rgb| {
                let gray = gray::pillow(rgb);
                rgb.map(|value| pillow(gray, value, factor as f32))
            }),
            Match::Torch => work.each_pixel(|rgb| {
                let gray = gray::torch(rgb).into();
                rgb.map(|value| torch(gray, value, factor))
            }),
        }
    }
}
