//! A border of a given width.

use serde::Deserialize;

use super::shape::{MAX_SIDE, Shape};
use crate::border::PaddingMode;
use crate::draw::Draws;
use crate::operation::{Fill, black};
use crate::plan::Plan;

/// Adds a border of this width: torchvision's `Pad`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PadBy {
    /// Width of the border on each side.
    pub padding: Padding,
    /// Value of the border, if `padding_mode` is `Constant`.
    #[serde(default = "black")]
    pub fill: Fill,
    /// What the border shows.
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

/// The width of a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "padding must be one whole number, two or four")]
pub enum Padding {
    /// The same on all sides.
    All(u32),
    /// Left and right, and above and below.
    Both([u32; 2]),
    /// Left, above, right and below.
    Each([u32; 4]),
}

impl Padding {
    /// Left, above, right and below.
    pub(super) fn each(self) -> [u32; 4] {
        match self {
            Self::All(width) => [width; 4],
            Self::Both([beside, above]) => [beside, above, beside, above],
            Self::Each(widths) => widths,
        }
    }
}

impl PadBy {
    pub(super) fn problem(&self) -> Option<String> {
        padding_problem(self.padding).or_else(|| self.fill.range_problem())
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        let [left, above, right, below] = self.padding.each();
        match before {
            Shape::Open => Shape::Open,
            Shape::Fixed(height, width) => Shape::Fixed(height + above + below, width + left + right),
        }
    }

    pub(super) fn plan(&self, plan: &mut Plan, _draws: Draws) {
        let [left, above, right, below] = self.padding.each();
        // A side that was resized beyond all limits is refused with the plan.
        let grown = |side: u32, first: u32, last: u32| side.saturating_add(first).saturating_add(last);
        let (width, height) = (grown(plan.width, left, right), grown(plan.height, above, below));
        plan.grow(width, height, left, above, self.padding_mode.painted(self.fill.paint()));
    }
}

/// What is wrong with the widths of a border.
pub(super) fn padding_problem(padding: Padding) -> Option<String> {
    let widths = padding.each();
    let wide = widths.iter().any(|width| *width > MAX_SIDE);
    wide.then(|| format!("padding is {widths:?}, but must be at most {MAX_SIDE} on each side"))
}
