//! One of some transforms.

use std::ops::Range;

use serde::Deserialize;

use super::shape::Shape;
use super::{Transform, list_problem};
use crate::draw::Draws;
use crate::plan::Plan;
use crate::weights;

/// Carries out one of these: torchvision's `RandomChoice`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomChoice {
    /// The transforms.
    pub transforms: Vec<Transform>,
    /// How likely each is, in relation to the others. Without them, all are as likely.
    #[serde(default)]
    pub p: Option<Vec<f64>>,
}

impl RandomChoice {
    pub(super) fn problem(&self) -> Option<String> {
        list_problem(&self.transforms).or_else(|| weights::problem(self.p.as_deref(), self.transforms.len()))
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        let after = self.transforms.iter().map(|transform| transform.shape(before));
        after.reduce(Shape::or).unwrap_or(before)
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        for number in self.drawn(draws) {
            self.transforms[number].plan(plan, draws.part(number as u64));
        }
    }

    /// The number of the transform that these draws carry out.
    pub(super) fn drawn(&self, draws: Draws) -> Range<usize> {
        let number = weights::chosen(draws, self.p.as_deref(), self.transforms.len());
        number..self.transforms.len().min(number + 1)
    }
}
