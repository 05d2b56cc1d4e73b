//! Mirroring left to right, by chance.

use serde::Deserialize;

use super::shape::Shape;
use crate::draw::Draws;
use crate::keypoint_flip::{KeypointFlip, pairs_problem};
use crate::number::{half, probability_problem};
use crate::plan::Plan;

/// Mirrors the picture left to right with probability `p`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomHorizontalFlip {
    /// Probability from 0 to 1.
    #[serde(default = "half")]
    pub p: f64,
    /// Where keypoints go.
    #[serde(default)]
    pub keypoints: KeypointFlip,
    /// Numbers of the keypoints of an object that change places, from 0, if the dataset does not say it: left and right of a body.
    #[serde(default)]
    pub flip_pairs: Vec<[u32; 2]>,
}

impl RandomHorizontalFlip {
    /// With this probability, and the default values.
    pub fn by_chance(p: f64) -> Self {
        Self { p, keypoints: KeypointFlip::default(), flip_pairs: Vec::new() }
    }

    pub(super) fn problem(&self) -> Option<String> {
        probability_problem(self.p).or_else(|| pairs_problem(&self.flip_pairs))
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, before: Shape) -> Shape {
        before
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        if draws.unit(0) < self.p {
            plan.mirror(self.keypoints);
        }
    }
}
