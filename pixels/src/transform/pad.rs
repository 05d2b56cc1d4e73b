//! A border around a picture that is too small.

use serde::Deserialize;

use super::shape::{Shape, Size};
use crate::border::PaddingMode;
use crate::draw::Draws;
use crate::plan::Plan;

/// Grows each side that is too short to at least this size, the picture in the middle.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// Smallest size; one number means a square.
    pub size: Size,
    /// Value of the border in all channels, if `padding_mode` is `Constant`.
    #[serde(default)]
    pub fill: u8,
    /// What the border shows.
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

impl Pad {
    /// A border of one value.
    pub fn to(size: Size, fill: u8) -> Self {
        Self { size, fill, padding_mode: PaddingMode::Constant }
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.size.problem()
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        match before {
            Shape::Open => Shape::Open,
            Shape::Fixed(height, width) => {
                let (least_height, least_width) = self.size.square();
                Shape::Fixed(height.max(least_height), width.max(least_width))
            }
        }
    }

    pub(super) fn plan(&self, plan: &mut Plan, _draws: Draws) {
        let (height, width) = self.size.square();
        let (width, height) = (width.max(plan.width), height.max(plan.height));
        let (left, top) = ((width - plan.width) / 2, (height - plan.height) / 2);
        plan.grow(width, height, left, top, self.padding_mode.border(self.fill));
    }
}
