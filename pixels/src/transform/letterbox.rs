//! Resized to fit into a size, with a border around it.

use serde::Deserialize;

use super::shape::Size;
use crate::border::Border;
use crate::interpolation::Interpolation;
use crate::paint::Paint;
use crate::plan::Plan;

/// The whole picture with its own ratio, as large as the size allows, in the middle of a border: YOLO's letterbox. Its resize is
/// ours, and not that of `OpenCV`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letterbox {
    /// Output size; one number means a square.
    pub size: Size,
    /// Value of the border in all channels.
    #[serde(default = "gray")]
    pub fill: u8,
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl Letterbox {
    pub(super) fn plan(&self, plan: &mut Plan) {
        let (height, width) = self.size.square();
        let (from_width, from_height) = (f64::from(plan.width), f64::from(plan.height));
        let factor = (f64::from(height) / from_height).min(f64::from(width) / from_width);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a side of the result")]
        let side = |from: f64, most: u32| (libm::rint(from * factor) as u32).clamp(1, most);
        plan.resize(side(from_width, width), side(from_height, height), self.interpolation);
        let (left, top) = ((width - plan.width) / 2, (height - plan.height) / 2);
        plan.grow(width, height, left, top, Border::Fill(Paint::One(self.fill)));
    }
}

fn gray() -> u8 {
    114
}
