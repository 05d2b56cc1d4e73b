//! The middle of the picture.

use serde::Deserialize;

use super::shape::{Shape, Size};
use crate::draw::Draws;
use crate::plan::{Plan, Rect};

/// The middle of the picture: torchvision's `CenterCrop`. What a smaller picture lacks is filled with 0.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CenterCrop {
    /// Output size; one number means a square.
    pub size: Size,
}

impl CenterCrop {
    pub(super) fn problem(&self) -> Option<String> {
        self.size.problem()
    }

    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::of(self.size)
    }

    pub(super) fn plan(&self, plan: &mut Plan, _draws: Draws) {
        let (height, width) = self.size.square();
        let left = width.saturating_sub(plan.width) / 2;
        let top = height.saturating_sub(plan.height) / 2;
        plan.grow(width.max(plan.width), height.max(plan.height), left, top, 0);
        plan.cut(Rect {
            left: half_to_even(plan.width - width),
            top: half_to_even(plan.height - height),
            width,
            height,
        });
    }
}

/// Half of it, where a half is rounded to the even neighbour, as Python's `round` does in torchvision's centre crop.
fn half_to_even(difference: u32) -> u32 {
    let half = difference / 2;
    if difference % 2 == 1 && half % 2 == 1 { half + 1 } else { half }
}
