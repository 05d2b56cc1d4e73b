//! Fewer bits in a value: the lower ones are 0.

use serde::{Deserialize, Serialize};

use super::by_chance::by_chance;
use super::workpiece::Workpiece;

/// torchvision's `posterize`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Posterize {
    /// How many bits stay, from 0 to 8. Pillow refuses 0, which gives black here, as for tensors.
    pub bits: u8,
}

by_chance! {
    /// torchvision's `RandomPosterize`.
    RandomPosterize of Posterize {
        /// How many bits stay, from 0 to 8.
        bits: u8,
    }
}

impl Posterize {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        (self.bits > 8).then(|| format!("bits is {}, but must be from 0 to 8", self.bits))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let mask = 0xFF_u8.checked_shl(8 - u32::from(self.bits.min(8))).unwrap_or(0);
        work.map(|value| value & mask);
    }
}
