//! One of some transforms.

use serde::Deserialize;

use super::shape::Shape;
use super::{Transform, list_problem};
use crate::draw::Draws;
use crate::plan::Plan;

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
        list_problem(&self.transforms).or_else(|| self.weights_problem())
    }

    fn weights_problem(&self) -> Option<String> {
        let p = self.p.as_ref()?;
        let good = p.len() == self.transforms.len()
            && p.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
            && p.iter().sum::<f64>() > 0.0;
        (!good).then(|| {
            format!("p is {p:?}, but must be a number from 0 up for each of {} transforms", self.transforms.len())
        })
    }

    pub(super) fn shape(&self, before: Shape) -> Shape {
        let after = self.transforms.iter().map(|transform| transform.shape(before));
        after.reduce(Shape::or).unwrap_or(before)
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let number = self.chosen(draws);
        if let Some(transform) = self.transforms.get(number) {
            transform.plan(plan, draws.part(number as u64));
        }
    }

    fn chosen(&self, draws: Draws) -> usize {
        let Some(p) = &self.p else {
            return draws.below(0, u32::try_from(self.transforms.len()).unwrap_or(u32::MAX)) as usize;
        };
        let mut left = draws.unit(0) * p.iter().sum::<f64>();
        let hit = p.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // The last that can be drawn, where rounding has left something.
        hit.or_else(|| p.iter().rposition(|weight| *weight > 0.0)).unwrap_or(0)
    }
}
