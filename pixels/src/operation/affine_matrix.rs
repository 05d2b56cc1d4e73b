//! Moved by a matrix that is given as it is.

use serde::{Deserialize, Serialize};

use super::affine::nearest;
use super::warp::{Affine2D, Fill, Mapping, Warp, interpolation_problem};
use super::workpiece::Workpiece;
use crate::interpolation::Interpolation;

/// Pillow's `Image.transform` with `AFFINE`: the pixel at (x, y) shows the place (a x + b y + c, d x + e y + f) of the picture.
/// timm shears and translates by it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AffineMatrix {
    /// a to f.
    pub matrix: [f64; 6],
    /// Filter, without antialiasing.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
}

impl AffineMatrix {
    pub(super) const IS_LOCAL: bool = false;

    pub(super) fn problem(self) -> Option<String> {
        if !self.matrix.iter().all(|number| (-1e6..=1e6).contains(number)) {
            return Some(format!("matrix is {:?}, but must be numbers from -1000000 to 1000000", self.matrix));
        }
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        work.warp(&self.warp());
    }

    /// What it does with a picture.
    pub(super) fn warp(&self) -> Warp {
        Warp { from: self.mapping(), interpolation: self.interpolation, fill: self.fill }
    }

    /// Where the pixels of the result come from.
    pub(super) fn mapping(&self) -> Mapping {
        let matrix = self.matrix;
        Mapping::Affine(Affine2D { column: [matrix[0], matrix[1], matrix[2]], row: [matrix[3], matrix[4], matrix[5]] })
    }
}
