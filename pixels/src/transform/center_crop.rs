//! The middle of the picture.

use serde::Deserialize;

use super::shape::Size;
use crate::plan::Plan;

/// The middle of the picture: torchvision's `CenterCrop`. Where it reaches beyond a smaller picture, it is black.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CenterCrop {
    /// Output size; one number means a square.
    pub size: Size,
}

impl CenterCrop {
    pub(super) fn plan(&self, plan: &mut Plan) {
        let (height, width) = self.size.square();
        plan.window(first(plan.width, width), first(plan.height, height), width, height);
    }
}

/// Where the middle of a side begins. Halves of what is cut off are rounded to the even neighbour, as Python's `round` does in
/// torchvision's centre crop, and halves of what is added are rounded down.
fn first(side: u32, part: u32) -> i32 {
    let half = side.abs_diff(part) / 2;
    let half = if side > part && (side - part) % 2 == 1 && half % 2 == 1 { half + 1 } else { half };
    let half = i32::try_from(half).unwrap_or(i32::MAX);
    if side < part { -half } else { half }
}
