//! Some transforms, all of them or none.

use serde::Deserialize;

use super::shape::Shape;
use super::{Transform, list_problem};
use crate::draw::Draws;
use crate::number::{half, probability_problem};
use crate::plan::Plan;

/// Carries out all of these with probability `p`, in their order, or none: torchvision's `RandomApply`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomApply {
    /// The transforms.
    pub transforms: Vec<Transform>,
    /// Probability from 0 to 1.
    #[serde(default = "half")]
    pub p: f64,
}

impl RandomApply {
    pub(super) fn problem(&self) -> Option<String> {
        list_problem(&self.transforms).or_else(|| probability_problem(self.p))
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        let after = self.transforms.iter().fold(before, |shape, transform| transform.shape(shape));
        if self.p >= 1.0 { after } else { after.or(before) }
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        if draws.unit(0) < self.p {
            for (number, transform) in (0..).zip(&self.transforms) {
                transform.plan(plan, draws.part(number));
            }
        }
    }
}
