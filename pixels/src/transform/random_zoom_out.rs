//! A border around the picture, of random widths.

use serde::Deserialize;

use super::shape::{Shape, cut_off};
use crate::border::Border;
use crate::draw::Draws;
use crate::number::{half, probability_problem};
use crate::operation::{Fill, black};
use crate::plan::Plan;

/// How many times longer a side of the result may be.
const LARGEST: f64 = 32.0;

/// torchvision's `RandomZoomOut`: the picture at a random place of a larger canvas.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomZoomOut {
    /// Value of the border.
    #[serde(default = "black")]
    pub fill: Fill,
    /// How many times longer the canvas's sides are: least and greatest.
    #[serde(default = "default_range")]
    pub side_range: [f64; 2],
    /// Probability from 0 to 1.
    #[serde(default = "half")]
    pub p: f64,
}

impl RandomZoomOut {
    pub(super) fn problem(&self) -> Option<String> {
        let [low, high] = self.side_range;
        let problem =
            || format!("side_range is [{low}, {high}], but must be from 1 to {LARGEST}, the smaller one first");
        let good = 1.0 <= low && low <= high && high <= LARGEST;
        probability_problem(self.p).or_else(|| (!good).then(problem)).or_else(|| self.fill.range_problem())
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        if self.p > 0.0 { Shape::Open } else { before }
    }

    /// Draw 0 is whether, 1 the size, and 2 and 3 where the picture is.
    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        if draws.unit(0) >= self.p {
            return;
        }
        let times = draws.between(1, self.side_range[0], self.side_range[1]);
        let side = |side: u32| cut_off(f64::from(side) * times).max(side);
        let (width, height) = (side(plan.width), side(plan.height));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a side")]
        let first = |number: u64, room: u32| (f64::from(room) * draws.unit(number)) as u32;
        let (left, top) = (first(2, width - plan.width), first(3, height - plan.height));
        plan.grow(width, height, left, top, Border::Fill(self.fill.paint()));
    }
}

fn default_range() -> [f64; 2] {
    [1.0, 4.0]
}
