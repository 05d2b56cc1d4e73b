//! One of several, each with a weight: how torchvision's `RandomChoice` chooses.

use crate::draw::Draws;

/// What is wrong with the weights of `count` transforms.
pub(crate) fn problem(p: Option<&[f64]>, count: usize) -> Option<String> {
    let p = p?;
    let good =
        p.len() == count && p.iter().all(|weight| weight.is_finite() && *weight >= 0.0) && p.iter().sum::<f64>() > 0.0;
    (!good).then(|| format!("p is {p:?}, but must be a number from 0 up for each of {count} transforms"))
}

/// The number of one of `count` transforms, by draw 0. Without weights, all are equally likely.
pub(crate) fn chosen(draws: Draws, p: Option<&[f64]>, count: usize) -> usize {
    let Some(p) = p else {
        return draws.below(0, u32::try_from(count).unwrap_or(u32::MAX)) as usize;
    };
    let mut left = draws.unit(0) * p.iter().sum::<f64>();
    let hit = p.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // The last that can be drawn, where rounding has left something.
    hit.or_else(|| p.iter().rposition(|weight| *weight > 0.0)).unwrap_or(0)
}
