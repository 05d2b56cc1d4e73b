//! Draws of the Beta distribution whose two parameters are equal, by methods that need uniform draws alone: Jöhnk's up to
//! 1, and above it Cheng's BB (Generating Beta Variates with Nonintegral Shape Parameters, 1978).

use crate::draw::Draws;

/// Pairs of draws after which the middle is taken. Either method takes at least one pair of two, so that this never comes.
const PAIRS: u64 = 128;

/// A number from 0 to 1 of the distribution Beta(alpha, alpha), for an alpha above 0. Takes the draws from 0 on.
pub(super) fn symmetric(draws: Draws, alpha: f64) -> f64 {
    let mut pairs = (0..PAIRS).map(|pair| (open_unit(draws, 2 * pair), open_unit(draws, 2 * pair + 1)));
    let take = if alpha <= 1.0 { johnk } else { cheng };
    pairs.find_map(|pair| take(pair, alpha)).unwrap_or(0.5)
}

/// Uniform between 0 and 1, without either: logarithms are taken of it.
fn open_unit(draws: Draws, number: u64) -> f64 {
    draws.unit(number) + f64::EPSILON / 4.0
}

/// The powers may be too small for a number. Their logarithms are not.
fn johnk((first, second): (f64, f64), alpha: f64) -> Option<f64> {
    let (x, y) = (libm::log(first) / alpha, libm::log(second) / alpha);
    if libm::exp(x) + libm::exp(y) > 1.0 {
        return None;
    }
    let largest = x.max(y);
    let (x, y) = (libm::exp(x - largest), libm::exp(y - largest));
    Some(x / (x + y))
}

fn cheng((first, second): (f64, f64), alpha: f64) -> Option<f64> {
    // Cheng's other parameters, where both of the distribution's are equal.
    let root = libm::sqrt(alpha);
    let v = libm::log(first / (1.0 - first)) / root;
    let w = alpha * libm::exp(v);
    let r = (alpha + root) * v - libm::log(4.0);
    let bound = r + 2.0 * alpha * libm::log(2.0 * alpha / (alpha + w));
    (bound >= libm::log(first * first * second)).then(|| w / (alpha + w))
}
