//! One operation with any magnitude, all as likely.

use serde::Deserialize;

use super::Operation;
use super::affine::nearest;
use super::magnitude::{Moved, Strengths};
use super::rand_augment::{bins_problem, chosen, default_bins, give_some};
use super::warp::{Fill, interpolation_problem};
use crate::draw::Draws;
use crate::interpolation::Interpolation;

/// torchvision's `TrivialAugmentWide`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrivialAugmentWide {
    /// How many magnitudes there are.
    #[serde(default = "default_bins")]
    pub num_magnitude_bins: u32,
    /// Filter of what is moved.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
}

impl TrivialAugmentWide {
    pub(crate) fn problem(&self) -> Option<String> {
        bins_problem(self.num_magnitude_bins)
            .or_else(|| interpolation_problem(self.interpolation))
            .or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        let strengths = Strengths {
            bins: self.num_magnitude_bins,
            shear: 0.99,
            translate: [32.0; 2],
            rotate: 135.0,
            factor: 0.99,
            bits: 8.0,
            posterize: 6.0,
        };
        let moved = Moved { interpolation: self.interpolation, fill: self.fill };
        let bin = draws.below(1, self.num_magnitude_bins);
        give_some(chosen(draws, 0).operation(&strengths, bin, draws.unit(2) < 0.5, moved), give);
    }
}
