//! Each channel's values spread, so that all ranges of values have about as many pixels.

use serde::{Deserialize, Serialize};

use super::by_chance::by_chance;
use super::workpiece::{Histogram, Workpiece};

/// torchvision's `equalize`. It is the same for tensors.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Equalize {}

by_chance! {
    /// torchvision's `RandomEqualize`.
    RandomEqualize of Equalize {}
}

impl Equalize {
    pub(super) const IS_LOCAL: bool = false;

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn problem(self) -> Option<String> {
        None
    }

    #[expect(clippy::unused_self, reason = "every operation has this signature")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.map_by_histogram(table);
    }
}

/// By how many pixels have a lower value. The highest value that the channel has does not count for the width of a step. A
/// channel with too few others stays as it is.
fn table(histogram: &Histogram) -> [u8; 256] {
    let pixels: u32 = histogram.iter().sum();
    let highest = histogram.iter().rev().find(|count| **count > 0).copied().unwrap_or(0);
    let step = (pixels - highest) / 255;
    let mut before = step / 2;
    std::array::from_fn(|at| {
        if step == 0 {
            return u8::try_from(at).expect("tables have 256 entries");
        }
        let value = before / step;
        before += histogram[at];
        u8::try_from(value).unwrap_or(u8::MAX)
    })
}
