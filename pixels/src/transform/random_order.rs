//! Some transforms in any order.

use serde::Deserialize;

use super::shape::Shape;
use super::{Transform, list_problem};
use crate::draw::Draws;
use crate::plan::Plan;
use crate::recipe_error::MAX_TRANSFORMS;

/// Carries out all of these in an order by chance: torchvision's `RandomOrder`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomOrder {
    /// The transforms.
    pub transforms: Vec<Transform>,
}

impl RandomOrder {
    pub(super) fn problem(&self) -> Option<String> {
        list_problem(&self.transforms)
    }

    /// Fixed only if none of them changes it: any of them may be the last.
    pub(super) fn shape(&self, before: Shape) -> Shape {
        self.transforms.iter().fold(before, |shape, transform| transform.shape(before).or(shape))
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let mut order: [usize; MAX_TRANSFORMS] = std::array::from_fn(|number| number);
        let order = &mut order[..self.transforms.len()];
        draws.shuffle(u64::MAX, order);
        for number in order {
            self.transforms[*number].plan(plan, draws.part(*number as u64));
        }
    }
}
