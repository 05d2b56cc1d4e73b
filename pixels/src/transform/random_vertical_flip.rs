//! Mirroring top to bottom, by chance.

use serde::Deserialize;

use super::shape::Shape;
use crate::draw::Draws;
use crate::number::{half, probability_problem};
use crate::plan::Plan;

/// Mirrors the picture top to bottom with probability `p`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomVerticalFlip {
    /// Probability from 0 to 1.
    #[serde(default = "half")]
    pub p: f64,
}

impl RandomVerticalFlip {
    pub(super) fn problem(&self) -> Option<String> {
        probability_problem(self.p)
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, before: Shape) -> Shape {
        before
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        if draws.unit(0) < self.p {
            plan.flip();
        }
    }
}
