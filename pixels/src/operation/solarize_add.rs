//! Low values made higher.

use serde::{Deserialize, Serialize};

use super::workpiece::Workpiece;

/// timm's `solarize_add`: values below the threshold grow, up to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SolarizeAdd {
    /// How much they grow.
    pub add: u8,
    /// The lowest value that stays as it is.
    #[serde(default = "half_of_all")]
    pub threshold: u8,
}

impl SolarizeAdd {
    pub(super) const IS_LOCAL: bool = true;

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn problem(self) -> Option<String> {
        None
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.map(|value| if value < self.threshold { value.saturating_add(self.add) } else { value });
    }
}

pub(super) fn half_of_all() -> u8 {
    128
}
