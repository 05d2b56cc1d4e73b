//! The filters of a resize.

use serde::{Deserialize, Serialize};

/// Filter of a resize. When a picture shrinks, the filter widens with the step (antialiasing), as in Pillow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// The nearest pixel, without antialiasing.
    Nearest,
    /// Triangle filter.
    #[default]
    Bilinear,
    /// Cubic filter with a = -0.5.
    Bicubic,
    /// Lanczos filter of three lobes.
    Lanczos3,
}

impl Interpolation {
    /// Whether torch has it with antialiasing.
    pub(crate) const fn has_torch(self) -> bool {
        matches!(self, Self::Bilinear | Self::Bicubic)
    }
}
