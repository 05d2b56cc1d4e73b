//! Nearer to the picture's mean gray, or farther from it.

use serde::{Deserialize, Serialize};

use super::blend::{factor_problem, pillow, torch};
use super::gray;
use super::workpiece::Workpiece;
use crate::matching::Match;

/// torchvision's `adjust_contrast`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// 0 gives plain gray, 1 leaves everything as it is.
    pub contrast_factor: f64,
}

impl Contrast {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        factor_problem("contrast_factor", self.contrast_factor)
    }

    #[expect(clippy::cast_possible_truncation, reason = "as the references calculate")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.contrast_factor;
        match work.matched {
            Match::Pillow => {
                let mean = (work.mean(gray::PillowGray) + 0.5) as i32;
                work.map_numbers(|value| pillow(mean, value, factor as f32));
            }
            Match::Torch => {
                let mean = work.mean(gray::TorchGray) as f32;
                work.map_numbers(|value| torch(mean, value, factor));
            }
        }
    }
}
