//! Rotated by a random angle.

use serde::Deserialize;

use super::shape::Shape;
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::operation::{Fill, Jitter, Operation, Rotate, black, nearest};
use crate::plan::Plan;

/// torchvision's `RandomRotation`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomRotation {
    /// How far the picture is turned at most, in degrees, or from where to where.
    pub degrees: Jitter,
    /// Filter, without antialiasing.
    #[serde(default = "nearest")]
    pub interpolation: Interpolation,
    /// Whether the result is so large that it shows all of the picture. If not, it has the picture's size.
    #[serde(default)]
    pub expand: bool,
    /// The point that everything turns about, in pixels from the upper left corner. Without it, the middle.
    #[serde(default)]
    pub center: Option<[f64; 2]>,
    /// What comes from outside of the picture. Without the key, black is blended in. With null, there is none, so that with
    /// [`Match::Torch`](crate::Match::Torch) the picture darkens to its edge, as torchvision's tensors do.
    #[serde(default = "blended")]
    pub fill: Option<Fill>,
}

impl RandomRotation {
    pub(super) fn problem(&self) -> Option<String> {
        let [low, high] = self.degrees.ends(0.0);
        if low > high {
            return Some(format!("degrees are from {low} to {high}, but the smaller one must be first"));
        }
        self.drawn(low).problem().or_else(|| self.drawn(high).problem())
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        if self.expand { Shape::Open } else { before }
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let [low, high] = self.degrees.ends(0.0);
        let rotate = self.drawn(draws.between(0, low, high));
        if self.expand { plan.turn(rotate) } else { plan.operate(Operation::Rotate(rotate)) }
    }

    fn drawn(&self, angle: f64) -> Rotate {
        let Self { interpolation, center, fill, .. } = *self;
        Rotate { angle, interpolation, center, fill }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is the default of a key")]
fn blended() -> Option<Fill> {
    Some(black())
}
