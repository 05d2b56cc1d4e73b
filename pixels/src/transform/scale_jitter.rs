//! Resized to fit into a size, and by a random factor beyond.

use serde::Deserialize;

use super::shape::{Shape, Size, cut_off};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::range_problem;
use crate::plan::Plan;

/// torchvision's `ScaleJitter`: the picture keeps its ratio.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaleJitter {
    /// The size that a factor of 1 means; one number means a square. torchvision compares the first number with the picture's
    /// width and the second with its height.
    pub target_size: Size,
    /// Least and greatest factor.
    #[serde(default = "default_range")]
    pub scale_range: [f64; 2],
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl ScaleJitter {
    pub(super) fn problem(&self) -> Option<String> {
        self.target_size
            .problem()
            .or_else(|| range_problem("scale_range", self.scale_range))
            .or_else(|| (self.scale_range[1] > 100.0).then(|| "scale_range must be at most 100".to_owned()))
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::Open
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let (first, second) = self.target_size.square();
        let (width, height) = (f64::from(plan.width), f64::from(plan.height));
        let factor = draws.between(0, self.scale_range[0], self.scale_range[1]);
        let factor = (f64::from(second) / height).min(f64::from(first) / width) * factor;
        plan.resize(cut_off(width * factor), cut_off(height * factor), self.interpolation);
    }
}

fn default_range() -> [f64; 2] {
    [0.1, 2.0]
}
