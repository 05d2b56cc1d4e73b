//! Nearer to gray, or more colourful.

use serde::{Deserialize, Serialize};

use super::blend::{factor_problem, float, pillow, torch};
use super::gray;
use super::pixelwise::{PixelMap, Rgb};
use super::workpiece::Workpiece;
use crate::matching::Match;

/// torchvision's `adjust_saturation`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// 0 takes all colours away, 1 leaves everything as it is.
    pub saturation_factor: f64,
}

/// With Pillow's arithmetic, by a factor.
#[derive(Clone, Copy)]
struct PillowSaturation(f32);

/// With torchvision's arithmetic of tensors.
#[derive(Clone, Copy)]
struct TorchSaturation(f64);

impl Saturation {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        factor_problem("saturation_factor", self.saturation_factor)
    }

    #[expect(clippy::cast_possible_truncation, reason = "Pillow's factor has single precision")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.saturation_factor;
        match work.matched {
            Match::Pillow => work.each_pixel(PillowSaturation(factor as f32)),
            Match::Torch => work.each_pixel(TorchSaturation(factor)),
        }
    }
}

impl PixelMap for PillowSaturation {
    #[inline(always)]
    fn map(self, rgb: Rgb) -> Rgb {
        let (gray, [red, green, blue]) = (gray::pillow(rgb), rgb);
        [pillow(gray, red, self.0), pillow(gray, green, self.0), pillow(gray, blue, self.0)]
    }
}

impl PixelMap for TorchSaturation {
    #[inline(always)]
    fn map(self, rgb: Rgb) -> Rgb {
        let (gray, [red, green, blue]) = (float(gray::torch(rgb)), rgb);
        [torch(gray, red, self.0), torch(gray, green, self.0), torch(gray, blue, self.0)]
    }
}
