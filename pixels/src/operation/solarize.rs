//! Values from a threshold up are inverted.

use serde::{Deserialize, Serialize};

use super::by_chance::by_chance;
use super::workpiece::Workpiece;

/// torchvision's `solarize`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Solarize {
    /// From 0, which inverts everything. Above 255 nothing is inverted.
    pub threshold: f64,
}

by_chance! {
    /// torchvision's `RandomSolarize`.
    RandomSolarize of Solarize {
        /// As in [`Solarize`].
        threshold: f64,
    }
}

impl Solarize {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        (!self.threshold.is_finite()).then(|| format!("threshold is {}, but must be a finite number", self.threshold))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.map(|value| if f64::from(value) < self.threshold { value } else { !value });
    }
}
