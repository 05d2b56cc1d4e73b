//! Mean and standard deviation per channel.

use serde::Deserialize;

use super::shape::Shape;
use crate::draw::Draws;
use crate::per_channel::PerChannel;
use crate::plan::Plan;

/// `(value / 255 - mean) / std` per channel (red, green, blue; or those of the mode): torchvision's `ToTensor` and `Normalize` in one.
/// In settings, one number holds for all channels.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalize {
    /// Means, where 255 is 1.
    pub mean: PerChannel,
    /// Standard deviations, where 255 is 1.
    pub std: PerChannel,
}

impl Normalize {
    pub(super) fn problem(&self) -> Option<String> {
        let (mean, std) = (self.mean.numbers(), self.std.numbers());
        if mean.iter().any(|mean| !mean.is_finite()) {
            return Some(format!("mean is {mean:?}, but must be finite numbers"));
        }
        let bad = std.iter().any(|std| !std.is_normal() || *std < 0.0);
        bad.then(|| format!("std is {std:?}, but must be numbers above 0"))
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, before: Shape) -> Shape {
        before
    }

    /// Nothing: values are normalised as they are written.
    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn plan(&self, _plan: &mut Plan, _draws: Draws) {}
}
