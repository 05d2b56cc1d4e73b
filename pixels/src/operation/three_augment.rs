//! One of three: gray, solarized or blurred.

use serde::Deserialize;

use super::gaussian_blur::OneOrTwo;
use super::pillow_blur::{blurred, default_radius, range_problem};
use super::{Gray, Operation, Solarize};
use crate::draw::Draws;

/// The 3-Augment of `DeiT` III and timm: no colours, high values inverted, or blurred, each as likely.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreeAugment {
    /// The lowest value that is inverted.
    #[serde(default = "default_threshold")]
    pub threshold: f64,
    /// Least and greatest radius of Pillow's Gaussian blur, or the only one.
    #[serde(default = "default_radius")]
    pub radius: OneOrTwo<f64>,
}

impl ThreeAugment {
    pub(crate) fn problem(&self) -> Option<String> {
        Solarize { threshold: self.threshold }.problem().or_else(|| range_problem(self.radius))
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        give(match draws.below(0, 3) {
            0 => Operation::Gray(Gray { num_output_channels: 3 }),
            1 => Operation::Solarize(Solarize { threshold: self.threshold }),
            _ => blurred(self.radius, draws, 1),
        });
    }
}

fn default_threshold() -> f64 {
    128.0
}
