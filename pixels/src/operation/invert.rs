//! Every value becomes what it lacks to 255.

use serde::{Deserialize, Serialize};

use super::by_chance::by_chance;
use super::workpiece::Workpiece;

/// torchvision's `invert`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Invert {}

by_chance! {
    /// torchvision's `RandomInvert`.
    RandomInvert of Invert {}
}

impl Invert {
    pub(super) const IS_LOCAL: bool = true;

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn problem(self) -> Option<String> {
        None
    }

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.map(|value| !value);
    }
}
