//! A part of the picture at a random place, with a border before it if one is asked for.

use serde::Deserialize;

use super::pad_by::{Padding, padding_problem};
use super::shape::{Shape, Size};
use crate::border::PaddingMode;
use crate::draw::Draws;
use crate::fault::Fault;
use crate::operation::{Fill, black};
use crate::plan::{Plan, Rect};

/// torchvision's `RandomCrop`: a part of this size at any place of the picture, each as likely.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomCrop {
    /// Output size; one number means a square.
    pub size: Size,
    /// Width of a border that the picture gets first.
    #[serde(default)]
    pub padding: Option<Padding>,
    /// Whether a side that is still too short gets a border on both ends, each as wide as what it lacks. Otherwise such a picture
    /// is refused.
    #[serde(default)]
    pub pad_if_needed: bool,
    /// Value of the border, if `padding_mode` is `Constant`.
    #[serde(default = "black")]
    pub fill: Fill,
    /// What the border shows.
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

/// One direction of a picture, of its border, and of the part.
struct CropSide {
    /// Length of the picture.
    len: u32,
    /// Length with the border.
    padded: u32,
    /// Where the picture begins in it.
    first: u32,
    /// Where the part begins in it.
    at: u32,
    /// Length of the part.
    part: u32,
}

impl RandomCrop {
    pub(super) fn problem(&self) -> Option<String> {
        let padding = || self.padding.and_then(padding_problem);
        self.size.problem().or_else(padding).or_else(|| self.fill.range_problem())
    }

    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::of(self.size)
    }

    /// Draw 0 is the first row, and 1 the first column.
    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let (height, width) = self.size.square();
        let [left, above, right, below] = self.padding.map_or([0; 4], Padding::each);
        let rows = self.side((plan.height, [above, below]), height, (draws, 0));
        let columns = self.side((plan.width, [left, right]), width, (draws, 1));
        let (Some(rows), Some(columns)) = (rows, columns) else {
            let found = (plan.width, plan.height);
            return plan.refuse(Fault::TooSmall { found, crop: (width, height) }, (width, height));
        };
        let (mut left, mut top) = (columns.at, rows.at);
        if rows.is_within() && columns.is_within() {
            // Nothing of the border is shown.
            (left, top) = (left - columns.first, top - rows.first);
        } else {
            let border = self.padding_mode.painted(self.fill.paint());
            plan.grow(columns.padded, rows.padded, columns.first, rows.first, border);
        }
        plan.cut(Rect { left, top, width, height });
    }

    /// One direction. None if the picture is too short for the part.
    fn side(&self, (len, border): (u32, [u32; 2]), part: u32, (draws, number): (Draws, u64)) -> Option<CropSide> {
        let padded = |by: u32| border.into_iter().fold(len, |len, end| len.saturating_add(end).saturating_add(by));
        let lacks = if self.pad_if_needed { part.saturating_sub(padded(0)) } else { 0 };
        let padded = padded(lacks);
        let room = padded.checked_sub(part)?;
        Some(CropSide { len, padded, first: border[0] + lacks, at: draws.below(number, room + 1), part })
    }
}

impl CropSide {
    /// Whether the part shows nothing of the border.
    fn is_within(&self) -> bool {
        self.first <= self.at && self.at + self.part <= self.first + self.len
    }
}
