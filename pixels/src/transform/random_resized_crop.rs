//! A random part of the picture, resized.

use serde::Deserialize;

use super::shape::{Shape, Size};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::number::range_problem;
use crate::plan::{Plan, Rect};
use crate::random_part::{tried, whole};

/// A random part with a random aspect ratio, resized: torchvision's `RandomResizedCrop`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomResizedCrop {
    /// Output size; one number means a square.
    pub size: Size,
    /// Smallest and largest part of the picture's area.
    #[serde(default = "default_scale")]
    pub scale: [f64; 2],
    /// Smallest and largest width / height of the part.
    #[serde(default = "default_ratio")]
    pub ratio: [f64; 2],
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl RandomResizedCrop {
    /// A random part with the default values, resized to this size.
    pub(super) fn to(size: Size) -> Self {
        let (scale, ratio) = (default_scale(), default_ratio());
        Self { size, scale, ratio, interpolation: Interpolation::default() }
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.size
            .problem()
            .or_else(|| range_problem("scale", self.scale))
            .or_else(|| range_problem("ratio", self.ratio))
    }

    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::of(self.size)
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        plan.cut(self.part(plan.width, plan.height, draws));
        let (height, width) = self.size.square();
        plan.resize(width, height, self.interpolation);
    }

    /// The random part: up to ten tries, then the largest middle part whose ratio is allowed.
    fn part(&self, width: u32, height: u32, draws: Draws) -> Rect {
        tried((width, height), self.scale, (1.0, self.ratio), draws).unwrap_or_else(|| self.middle(width, height))
    }

    fn middle(&self, width: u32, height: u32) -> Rect {
        let (wide, high) = (f64::from(width), f64::from(height));
        let (part_width, part_height) = if wide / high < self.ratio[0] {
            (width, whole(wide / self.ratio[0]).clamp(1, height))
        } else if wide / high > self.ratio[1] {
            (whole(high * self.ratio[1]).clamp(1, width), height)
        } else {
            (width, height)
        };
        Rect { left: (width - part_width) / 2, top: (height - part_height) / 2, width: part_width, height: part_height }
    }
}

fn default_scale() -> [f64; 2] {
    [0.08, 1.0]
}

fn default_ratio() -> [f64; 2] {
    [3.0 / 4.0, 4.0 / 3.0]
}
