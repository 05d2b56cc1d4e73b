//! The picture mixed with some of its own augmentations.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::magnitude::{Kind, Moved, Strengths};
use super::warp::{Fill, interpolation_problem, torch_has};
use super::workpiece::Workpiece;
use crate::buffer::{SLACK, sized};
use crate::draw::Draws;
use crate::interpolation::Interpolation;
use crate::matching::Match;

/// torchvision's bins of magnitudes.
const BINS: u32 = 10;
/// Operations of a chain whose length is drawn.
const LONGEST: u32 = 3;

/// torchvision's `AugMix`: chains of operations, mixed with each other and with the picture. The operations are always those of
/// torchvision for tensors, which it makes of Pillow's images.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AugMix {
    /// Greatest magnitude of an operation, from 1 to 10.
    #[serde(default = "three")]
    pub severity: u32,
    /// How many chains, up to 16.
    #[serde(default = "three")]
    pub mixture_width: u32,
    /// Operations of each chain, up to 16. If not above 0, one to three.
    #[serde(default = "drawn_depth")]
    pub chain_depth: i32,
    /// Of the Dirichlet distribution of the weights. Above 0.
    #[serde(default = "one")]
    pub alpha: f64,
    /// Whether brightness, colour, contrast and sharpness are among the operations.
    #[serde(default = "yes")]
    pub all_ops: bool,
    /// Filter of what is moved: nearest or bilinear.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// What comes from outside of the picture. Without it, black.
    #[serde(default)]
    pub fill: Option<Fill>,
}

/// What was drawn by [`AugMix`]: all that it needs to draw the chains.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChainMix {
    /// The draws' key.
    pub key: u64,
    /// As in [`AugMix`].
    pub severity: u32,
    /// As in [`AugMix`].
    pub mixture_width: u32,
    /// As in [`AugMix`].
    pub chain_depth: i32,
    /// As in [`AugMix`].
    pub alpha: f64,
    /// As in [`AugMix`].
    pub all_ops: bool,
    /// As in [`AugMix`].
    #[serde(default)]
    pub interpolation: Interpolation,
    /// As in [`AugMix`].
    #[serde(default)]
    pub fill: Option<Fill>,
}

impl AugMix {
    pub(crate) fn problem(&self) -> Option<String> {
        self.drawn(0).problem()
    }

    pub(crate) fn draw(&self, draws: Draws, _size: (u32, u32), give: &mut dyn FnMut(Operation)) {
        give(Operation::ChainMix(self.drawn(draws.key())));
    }

    fn drawn(&self, key: u64) -> ChainMix {
        let Self { severity, mixture_width, chain_depth, alpha, all_ops, interpolation, fill } = *self;
        ChainMix { key, severity, mixture_width, chain_depth, alpha, all_ops, interpolation, fill }
    }
}

impl ChainMix {
    pub(super) const IS_LOCAL: bool = false;
    /// A sum of floats, a chain's picture, and another one for its steps.
    pub(super) const BYTES_OF_PIXEL: u64 = 3 * (4 + 1 + 1);

    pub(super) fn problem(self) -> Option<String> {
        let Self { severity, mixture_width: chains, chain_depth: depth, alpha, .. } = self;
        if !(1..=BINS).contains(&severity) {
            return Some(format!("severity is {severity}, but must be from 1 to {BINS}"));
        }
        if !(1..=16).contains(&chains) || depth > 16 {
            return Some("mixture_width must be from 1 to 16, and chain_depth at most 16".to_owned());
        }
        if !(1e-3..=1e3).contains(&alpha) {
            return Some(format!("alpha is {alpha}, but must be from 0.001 to 1000"));
        }
        if !torch_has(self.interpolation) {
            return Some("interpolation must be \"nearest\" or \"bilinear\"".to_owned());
        }
        interpolation_problem(self.interpolation).or_else(|| self.fill.and_then(Fill::problem))
    }

    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let (width, height) = work.size();
        let draws = Draws::of_key(self.key);
        let [own, mixed] = weights(draws.part(0), self.alpha);
        work.remake_by(|from, to, _, scratch| {
            // The operations of a chain have the rest of the memory.
            let [mut chain, mut spare] = [&mut scratch.chain, &mut scratch.spare].map(std::mem::take);
            let mut sum = std::mem::take(&mut scratch.sum);
            // Before the new memory is taken, the old one is given back.
            if sum.capacity() < from.len() {
                drop(std::mem::replace(&mut sum, Vec::with_capacity(from.len())));
            }
            sum.clear();
            sum.extend(from.iter().map(|value| own * f32::from(*value)));
            for (number, weight) in (1..).zip(self.chain_weights(draws.part(1))) {
                sized(&mut chain, from.len() + SLACK)[..from.len()].copy_from_slice(from);
                let size = (width, height);
                let mut work = Workpiece::new(&mut chain, &mut spare, scratch, size, Match::Torch);
                self.chain(draws.part(1 + number), size, |operation| operation.carry_out(&mut work));
                work.finish();
                let weight = weight * mixed;
                sum.iter_mut().zip(&chain).for_each(|(sum, value)| *sum += weight * f32::from(*value));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "cut off, as torchvision does it"
            )]
            to.iter_mut().zip(&sum).for_each(|(to, sum)| *to = *sum as u8);
            (scratch.chain, scratch.spare, scratch.sum) = (chain, spare, sum);
        });
    }

    /// The parts of the mixture: the picture's own weight, and each chain's weight and operations on a picture of this width
    /// and height. The weights add up to 1. With these, the same mixture can be made of another library's operations.
    pub fn drawn(&self, (width, height): (u32, u32)) -> (f32, Vec<(f32, Vec<Operation>)>) {
        let draws = Draws::of_key(self.key);
        let [own, mixed] = weights(draws.part(0), self.alpha);
        let chains = (1..).zip(self.chain_weights(draws.part(1))).map(|(number, weight)| {
            let mut operations = Vec::new();
            self.chain(draws.part(1 + number), (width as usize, height as usize), |each| operations.push(each));
            (weight * mixed, operations)
        });
        (own, chains.collect())
    }

    /// The weights of the chains, which add up to 1.
    #[expect(clippy::cast_possible_truncation, reason = "weights have single precision")]
    fn chain_weights(&self, draws: Draws) -> impl Iterator<Item = f32> {
        let share = move |alpha: f64, number: u32| gamma(draws.part(number.into()), alpha);
        let (alpha, count) = (self.alpha, self.mixture_width);
        let sum: f64 = (0..count).map(|number| share(alpha, number)).sum();
        (0..count).map(move |number| (share(alpha, number) / sum) as f32)
    }

    /// The operations of one chain.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "sides of pictures, and 13 kinds")]
    fn chain(&self, draws: Draws, (width, height): (usize, usize), mut give: impl FnMut(Operation)) {
        let strengths = Strengths {
            bins: BINS,
            shear: 0.3,
            translate: [width, height].map(|side| side as f64 / 3.0),
            rotate: 30.0,
            factor: 0.9,
            bits: 4.0,
            posterize: 4.0,
        };
        let moved = Moved { interpolation: self.interpolation, fill: self.fill };
        let kinds: &[Kind] = if self.all_ops { &Kind::ALL[1..] } else { &Kind::WITHOUT_FACTORS };
        let depth = u32::try_from(self.chain_depth).ok().filter(|depth| *depth > 0);
        for number in 0..depth.unwrap_or_else(|| 1 + draws.below(0, LONGEST)) {
            let draws = draws.part(number.into());
            let kind = kinds[draws.below(0, kinds.len() as u32) as usize];
            let bin = draws.below(1, self.severity);
            kind.operation(&strengths, bin, draws.unit(2) <= 0.5, moved).into_iter().for_each(&mut give);
        }
    }
}

/// Two shares of 1, by a symmetric Dirichlet distribution.
#[expect(clippy::cast_possible_truncation, reason = "weights have single precision")]
fn weights(draws: Draws, alpha: f64) -> [f32; 2] {
    let [one, other] = [0, 1].map(|number| gamma(draws.part(number), alpha));
    [one, other].map(|share| (share / (one + other)) as f32)
}

/// A number of a gamma distribution, by Marsaglia's and Tsang's method. Above 0.
fn gamma(draws: Draws, alpha: f64) -> f64 {
    if alpha < 1.0 {
        let unit = draws.unit(0).max(f64::MIN_POSITIVE);
        return (gamma(draws.part(0), alpha + 1.0) * libm::pow(unit, 1.0 / alpha)).max(f64::MIN_POSITIVE);
    }
    let shift = alpha - 1.0 / 3.0;
    let scale = 1.0 / libm::sqrt(9.0 * shift);
    let mut number = 1;
    loop {
        let normal = draws.normal(number);
        let unit = draws.unit(number + 2).max(f64::MIN_POSITIVE);
        let cube = libm::pow(1.0 + scale * normal, 3.0);
        if cube > 0.0 && libm::log(unit) < 0.5 * normal * normal + shift * (1.0 - cube + libm::log(cube)) {
            return shift * cube;
        }
        number += 3;
    }
}

fn three() -> u32 {
    3
}

fn drawn_depth() -> i32 {
    -1
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::photograph_rgb;

    #[test]
    fn a_mixture_is_the_weighted_sum_of_the_picture_and_its_chains() {
        for key in 0..20 {
            let (size, original) = ((31, 22), photograph_rgb(key, 31, 22));
            let mixture = AugMix {
                severity: 10,
                mixture_width: 2,
                chain_depth: -1,
                alpha: 1.0,
                all_ops: key % 2 == 0,
                interpolation: Interpolation::Bilinear,
                fill: None,
            }
            .drawn(key);
            let draws = Draws::of_key(key);
            let [own, mixed] = weights(draws.part(0), 1.0);
            assert!((own + mixed - 1.0).abs() < 1e-6 && own > 0.0 && mixed > 0.0);
            let chain_weights: Vec<f32> = mixture.chain_weights(draws.part(1)).collect();
            assert!((chain_weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            let mut sum: Vec<f64> = original.iter().map(|value| f64::from(own) * f64::from(*value)).collect();
            for (number, weight) in (2..).zip(&chain_weights) {
                let (mut chain, mut count) = (original.clone(), 0);
                mixture.chain(draws.part(number), (31, 22), |operation| {
                    operation.apply(&mut chain, size, Match::Torch);
                    count += 1;
                });
                assert!((1..=3).contains(&count), "one to three operations");
                let weight = f64::from(*weight) * f64::from(mixed);
                sum.iter_mut().zip(&chain).for_each(|(sum, value)| *sum += weight * f64::from(*value));
            }
            let mut made = original;
            Operation::ChainMix(mixture).apply(&mut made, size, Match::Pillow);
            for (value, sum) in made.iter().zip(sum) {
                // Cut off, in single precision.
                assert!((f64::from(*value) + 0.5 - sum).abs() < 0.501, "{value} of {sum}");
            }
        }
    }

    #[test]
    fn rule_08_weights_have_a_gamma_distribution() {
        for alpha in [0.3, 1.0, 4.0] {
            let drawn: Vec<f64> = (0..40_000).map(|key| gamma(Draws::of_key(key), alpha)).collect();
            let mean = drawn.iter().sum::<f64>() / 40_000.0;
            let spread = drawn.iter().map(|number| (number - mean) * (number - mean)).sum::<f64>() / 40_000.0;
            // Mean and variance are both alpha.
            assert!((mean - alpha).abs() < 6.0 * libm::sqrt(alpha / 40_000.0), "{mean}");
            assert!((spread - alpha).abs() < 0.1 * alpha + 0.02, "{spread}");
        }
    }
}
