//! Some transforms, all of them or none.

use std::ops::Range;

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
        for number in self.drawn(draws) {
            self.transforms[number].plan(plan, draws.part(number as u64));
        }
    }

    /// The numbers of the transforms that these draws carry out.
    pub(super) fn drawn(&self, draws: Draws) -> Range<usize> {
        if draws.unit(0) < self.p { 0..self.transforms.len() } else { 0..0 }
    }
}
