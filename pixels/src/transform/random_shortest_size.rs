//! Resized to a random length of the shorter side.

use serde::Deserialize;

use super::shape::{MAX_SIDE, Shape, cut_off};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::plan::Plan;

/// torchvision's `RandomShortestSize`: the picture keeps its ratio.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomShortestSize {
    /// Lengths of the shorter side, each as likely.
    pub min_size: Lengths,
    /// Greatest length of the longer side. The shorter one is shorter where it would be exceeded.
    #[serde(default)]
    pub max_size: Option<u32>,
    /// Filter of the resize.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// One length, or some.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "min_size must be one whole number or a list of them")]
pub enum Lengths {
    /// The only one.
    One(u32),
    /// One of these.
    Several(Vec<u32>),
}

impl Lengths {
    fn list(&self) -> &[u32] {
        match self {
            Self::One(length) => std::slice::from_ref(length),
            Self::Several(lengths) => lengths,
        }
    }
}

impl RandomShortestSize {
    pub(super) fn problem(&self) -> Option<String> {
        let lengths = self.min_size.list();
        let fits = |length: &u32| (1..=MAX_SIDE).contains(length);
        let good = (1..=1000).contains(&lengths.len()) && lengths.iter().chain(&self.max_size).all(fits);
        (!good).then(|| format!("min_size and max_size must be from 1 to {MAX_SIDE}, with at least one min_size"))
    }

    #[expect(clippy::unused_self, reason = "every transform has this signature")]
    pub(super) fn shape(&self, _before: Shape) -> Shape {
        Shape::Open
    }

    pub(super) fn plan(&self, plan: &mut Plan, draws: Draws) {
        let lengths = self.min_size.list();
        let number = draws.below(0, u32::try_from(lengths.len()).unwrap_or(u32::MAX));
        let (width, height) = (f64::from(plan.width), f64::from(plan.height));
        let factor = f64::from(lengths[number as usize]) / width.min(height);
        let most = self.max_size.map_or(f64::INFINITY, |most| f64::from(most) / width.max(height));
        let factor = factor.min(most);
        plan.resize(cut_off(width * factor), cut_off(height * factor), self.interpolation);
    }
}
