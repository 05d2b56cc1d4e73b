//! Lighter or darker: every value times a factor.

use serde::{Deserialize, Serialize};

use super::blend::{factor_problem, pillow, torch};
use super::workpiece::Workpiece;
use crate::matching::Match;

/// torchvision's `adjust_brightness`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Brightness {
    /// 0 gives black, 1 leaves everything as it is.
    pub brightness_factor: f64,
}

impl Brightness {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        factor_problem("brightness_factor", self.brightness_factor)
    }

    #[expect(clippy::cast_possible_truncation, reason = "Pillow's factor has single precision")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.brightness_factor;
        match work.matched {
            Match::Pillow => work.map_numbers(|value| pillow(0, value, factor as f32)),
            Match::Torch => work.map_numbers(|value| torch(0.0, value, factor)),
        }
    }
}
