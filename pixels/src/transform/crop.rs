//! A part of the picture.

use serde::Deserialize;

use super::shape::{Shape, Size};
use crate::draw::Draws;
use crate::plan::Plan;

/// How far from the picture a part may begin.
const FARTHEST: u32 = 1 << 24;

/// A part of the picture: torchvision's `crop`. Where it reaches beyond the picture, it is black.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crop {
    /// First row. Negative above the picture.
    pub top: i32,
    /// First column. Negative left of the picture.
    pub left: i32,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
}

impl Crop {
    fn size(&self) -> Size {
        Size::HeightWidth([self.height, self.width])
    }

    pub(super) fn problem(&self) -> Option<String> {
        let Self { top, left, .. } = *self;
        let far = top.unsigned_abs().max(left.unsigned_abs()) > FARTHEST;
        let problem = || format!("top and left are {top} and {left}, but must be from -{FARTHEST} to {FARTHEST}");
        self.size().problem().or_else(|| far.then(problem))
    }

    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::of(self.size())
    }

    pub(super) fn plan(&self, plan: &mut Plan, _draws: Draws) {
        plan.window(self.left, self.top, self.width, self.height);
    }
}
