//! Which library's pixels a resize gives.

use serde::Deserialize;

use crate::axis::Axis;

/// How resizes calculate, and so whose pixels they give. Which source pixels count, and how much, is the same for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// Pillow, to the byte: weights of 22 bits after the point, and 8 bits between the passes.
    #[default]
    Pillow,
    /// What torchvision makes of a uint8 tensor on a GPU with `antialias=True`: weights, and all values up to the last, are
    /// floats of single precision, which are rounded to 8 bits once, ties to even. The pass along the rows is always the
    /// first. torch rounds its own weights and sums elsewhere, and so differs by 1 here and there.
    Torch,
}

impl Match {
    /// Whether the pass down the columns, whose axis is `rows`, comes before that along the rows.
    pub(crate) fn down_first(self, columns: &Axis, rows: &Axis) -> bool {
        match self {
            Self::Pillow => rows.goes_first(columns),
            Self::Torch => false,
        }
    }
}
