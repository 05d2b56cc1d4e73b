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
        for number in self.drawn(draws) {
            self.transforms[number].plan(plan, draws.part(number as u64));
        }
    }

    /// The numbers of the transforms, in the order that these draws give them.
    pub(super) fn drawn(&self, draws: Draws) -> impl Iterator<Item = usize> + use<> {
        let (mut order, len): ([usize; MAX_TRANSFORMS], _) = (std::array::from_fn(|it| it), self.transforms.len());
        draws.shuffle(u64::MAX, &mut order[..len]);
        order.into_iter().take(len)
    }
}
