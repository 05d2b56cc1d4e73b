//! Mean and standard deviation per channel.

use serde::{Deserialize, Deserializer};

use super::shape::Shape;
use crate::draw::Draws;
use crate::plan::Plan;

/// `(value / 255 - mean) / std` per channel (red, green, blue): torchvision's `ToTensor` and `Normalize` in one. In settings, one
/// number holds for all channels.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalize {
    /// Means of red, green, blue, where 255 is 1.
    #[serde(deserialize_with = "one_or_three")]
    pub mean: [f32; 3],
    /// Standard deviations of red, green, blue, where 255 is 1.
    #[serde(deserialize_with = "one_or_three")]
    pub std: [f32; 3],
}

/// As settings have them.
#[derive(Deserialize)]
#[serde(untagged, expecting = "mean and std must be one number each, or three: red, green and blue")]
enum OfChannels {
    One(f32),
    OneInList([f32; 1]),
    Three([f32; 3]),
}

fn one_or_three<'de, D: Deserializer<'de>>(from: D) -> Result<[f32; 3], D::Error> {
    Ok(match OfChannels::deserialize(from)? {
        OfChannels::One(value) | OfChannels::OneInList([value]) => [value; 3],
        OfChannels::Three(values) => values,
    })
}

impl Normalize {
    pub(super) fn problem(&self) -> Option<String> {
        if self.mean.iter().any(|mean| !mean.is_finite()) {
            return Some(format!("mean is {:?}, but must be three finite numbers", self.mean));
        }
        let bad = self.std.iter().any(|std| !std.is_normal() || *std < 0.0);
        bad.then(|| format!("std is {:?}, but must be three numbers above 0", self.std))
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, before: Shape) -> Shape {
        before
    }

    /// Nothing: values are normalised as they are written.
    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn plan(&self, _plan: &mut Plan, _draws: Draws) {}
}
