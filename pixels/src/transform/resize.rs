//! The whole picture, resized.

use serde::Deserialize;

use super::shape::{Shape, Size};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::plan::Plan;

/// The whole picture resized: torchvision's `Resize`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// One number is the shorter side (the longer one follows, rounded down); two are height and width.
    pub size: Size,
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl Resize {
    pub(super) fn problem(&self) -> Option<String> {
        self.size.problem()
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        match (self.size, before) {
            (Size::HeightWidth([height, width]), _) => Shape::Fixed(height, width),
            (Size::One(_), Shape::Fixed(height, width)) => {
                let (width, height) = self.target(width, height);
                Shape::Fixed(height, width)
            }
            (Size::One(_), Shape::Open) => Shape::Open,
        }
    }

    pub(super) fn plan(&self, plan: &mut Plan, _draws: Draws) {
        let (width, height) = self.target(plan.width, plan.height);
        plan.resize(width, height, self.interpolation);
    }

    /// Width and height that a picture of this size gets.
    fn target(&self, width: u32, height: u32) -> (u32, u32) {
        let longer = |side: u32, long: u32, short: u32| {
            u32::try_from(u64::from(side) * u64::from(long) / u64::from(short)).unwrap_or(u32::MAX)
        };
        match self.size {
            Size::HeightWidth([height, width]) => (width, height),
            Size::One(side) if width <= height => (side, longer(side, height, width)),
            Size::One(side) => (longer(side, width, height), side),
        }
    }
}
