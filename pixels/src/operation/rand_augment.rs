//! Some operations, each as likely, all with one magnitude.

use serde::Deserialize;

use super::Operation;
use super::affine::nearest;
use super::magnitude::{Kind, Moved, Strengths};
use super::warp::{Fill, interpolation_problem};
use crate::draw::Draws;
use crate::interpolation::Interpolation;

/// torchvision's `RandAugment`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandAugment {
    /// How many operations, up to 16.
    #[serde(default = "default_ops")]
    pub num_ops: u32,
    /// Their magnitude, from 0.
    #[serde(default = "default_magnitude")]
    pub magnitude: u32,
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

impl RandAugment {
    pub(crate) fn problem(&self) -> Option<String> {
        let Self { num_ops, magnitude, num_magnitude_bins: bins, .. } = *self;
        if num_ops > 16 {
            return Some(format!("num_ops is {num_ops}, but must be at most 16"));
        }
        bins_problem(bins)
            .or_else(|| (magnitude >= bins).then(|| format!("magnitude is {magnitude}, but must be below {bins}")))
            .or_else(|| interpolation_problem(self.interpolation))
            .or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(crate) fn draw(&self, draws: Draws, (width, height): (u32, u32), give: &mut dyn FnMut(Operation)) {
        let moved = Moved { interpolation: self.interpolation, fill: self.fill };
        let strengths = Strengths {
            bins: self.num_magnitude_bins,
            shear: 0.3,
            translate: [width, height].map(|side| 150.0 / 331.0 * f64::from(side)),
            rotate: 30.0,
            factor: 0.9,
            bits: 8.0,
            posterize: 4.0,
        };
        for number in 0..self.num_ops {
            let draws = draws.part(number.into());
            let kind = chosen(draws, 0);
            give_some(kind.operation(&strengths, self.magnitude, draws.unit(1) < 0.5, moved), give);
        }
    }
}

/// One of the operations, each as likely.
#[expect(clippy::cast_possible_truncation, reason = "there are 14")]
pub(super) fn chosen(draws: Draws, number: u64) -> Kind {
    Kind::ALL[draws.below(number, Kind::ALL.len() as u32) as usize]
}

pub(super) fn give_some(operation: Option<Operation>, give: &mut dyn FnMut(Operation)) {
    if let Some(operation) = operation {
        give(operation);
    }
}

pub(super) fn bins_problem(bins: u32) -> Option<String> {
    (!(2..=1 << 16).contains(&bins)).then(|| format!("num_magnitude_bins is {bins}, but must be from 2 to 65536"))
}

pub(super) fn default_bins() -> u32 {
    31
}

fn default_ops() -> u32 {
    2
}

fn default_magnitude() -> u32 {
    9
}
